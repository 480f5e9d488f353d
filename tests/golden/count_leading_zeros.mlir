module {
  func.func @main(%arg0: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
    %0 = "stablehlo.count_leading_zeros"(%arg0) : (tensor<2x3xi32>) -> tensor<2x3xi32>
    "func.return"(%0) : (tensor<2x3xi32>) -> ()
  }
}
