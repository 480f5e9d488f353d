module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x1xf32>) -> (tensor<2x4xf32>) {
    %0 = "stablehlo.concatenate"(%arg0, %arg1) {dimension = 1 : i64} : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
    "func.return"(%0) : (tensor<2x4xf32>) -> ()
  }
}
