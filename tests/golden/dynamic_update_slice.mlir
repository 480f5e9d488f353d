module {
  func.func @main(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<8x3xf32>, %arg3: tensor<2x3xf32>) -> (tensor<8x3xf32>) {
    %0 = "stablehlo.dynamic_update_slice"(%arg2, %arg3, %arg0, %arg1) : (tensor<8x3xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x3xf32>
    "func.return"(%0) : (tensor<8x3xf32>) -> ()
  }
}
