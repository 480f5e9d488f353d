module {
  func.func private @f0(%arg0: tensor<2xf32>) -> (tensor<2xf32>) {
    %0 = "stablehlo.add"(%arg0, %arg0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%0) : (tensor<2xf32>) -> ()
  }
  func.func @main(%arg0: tensor<2xf32>) -> (tensor<2xf32>) {
    %0 = "func.call"(%arg0) {callee = @f0} : (tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%0) : (tensor<2xf32>) -> ()
  }
}
