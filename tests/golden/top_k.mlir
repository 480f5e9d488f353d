module {
  func.func @main(%arg0: tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
    %0:2 = "chlo.top_k"(%arg0) {k = 3 : i64} : (tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
    "func.return"(%0#0, %0#1) : (tensor<2x3xf32>, tensor<2x3xi32>) -> ()
  }
}
