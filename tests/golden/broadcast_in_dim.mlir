module {
  func.func @main(%arg0: tensor<3x1xf32>) -> (tensor<3x4x5xf32>) {
    %0 = "stablehlo.broadcast_in_dim"(%arg0) {broadcast_dimensions = array<i64: 0, 2>} : (tensor<3x1xf32>) -> tensor<3x4x5xf32>
    "func.return"(%0) : (tensor<3x4x5xf32>) -> ()
  }
}
