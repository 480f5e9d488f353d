module {
  func.func @main(%arg0: tensor<5x3x4xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<4xf32>) -> (tensor<5x2x4xf32>, tensor<5x3xf32>) {
    %0 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<5x2x3xf32>
    %1 = "stablehlo.dot_general"(%0, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>} : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
    %2 = "stablehlo.dot_general"(%arg0, %arg2) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>} : (tensor<5x3x4xf32>, tensor<4xf32>) -> tensor<5x3xf32>
    "func.return"(%1, %2) : (tensor<5x2x4xf32>, tensor<5x3xf32>) -> ()
  }
}
