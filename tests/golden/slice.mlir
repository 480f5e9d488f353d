module {
  func.func @main(%arg0: tensor<8x3xf32>) -> (tensor<3x3xf32>) {
    %0 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 1, 0>, limit_indices = array<i64: 7, 3>, strides = array<i64: 2, 1>} : (tensor<8x3xf32>) -> tensor<3x3xf32>
    "func.return"(%0) : (tensor<3x3xf32>) -> ()
  }
}
