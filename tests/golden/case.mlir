module {
  func.func @main(%arg0: tensor<i32>, %arg1: tensor<2xf32>) -> (tensor<2xf32>) {
    %0 = "stablehlo.case"(%arg0) ({
      %1 = "stablehlo.negate"(%arg1) : (tensor<2xf32>) -> tensor<2xf32>
      "stablehlo.return"(%1) : (tensor<2xf32>) -> ()
    }, {
      %2 = "stablehlo.abs"(%arg1) : (tensor<2xf32>) -> tensor<2xf32>
      "stablehlo.return"(%2) : (tensor<2xf32>) -> ()
    }) : (tensor<i32>) -> tensor<2xf32>
    "func.return"(%0) : (tensor<2xf32>) -> ()
  }
}
