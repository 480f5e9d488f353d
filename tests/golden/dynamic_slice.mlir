module {
  func.func @main(%arg0: tensor<8x3xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> (tensor<2x3xf32>) {
    %0 = "stablehlo.dynamic_slice"(%arg0, %arg1, %arg2) {slice_sizes = array<i64: 2, 3>} : (tensor<8x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    "func.return"(%0) : (tensor<2x3xf32>) -> ()
  }
}
