module {
  func.func @main(%arg0: tensor<i32>, %arg1: tensor<2xf32>) -> (tensor<2xf32>) {
    %0 = "stablehlo.negate"(%arg1) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = "stablehlo.abs"(%arg1) : (tensor<2xf32>) -> tensor<2xf32>
    %2 = "stablehlo.case"(%arg0) ({
      "stablehlo.return"(%0) : (tensor<2xf32>) -> ()
    }, {
      "stablehlo.return"(%1) : (tensor<2xf32>) -> ()
    }) : (tensor<i32>) -> tensor<2xf32>
    "func.return"(%2) : (tensor<2xf32>) -> ()
  }
}
