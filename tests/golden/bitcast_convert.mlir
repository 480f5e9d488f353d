module {
  func.func @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3x4xui8>) {
    %0 = "stablehlo.bitcast_convert"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3x4xui8>
    "func.return"(%0) : (tensor<2x3x4xui8>) -> ()
  }
}
