module {
  func.func @main(%arg0: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
    %0 = "stablehlo.popcnt"(%arg0) : (tensor<2x3xi32>) -> tensor<2x3xi32>
    "func.return"(%0) : (tensor<2x3xi32>) -> ()
  }
}
