module {
  func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<i32>) -> (tensor<i32>) {
    %0 = "stablehlo.tuple"(%arg0, %arg1) : (tensor<2xf32>, tensor<i32>) -> tuple<tensor<2xf32>, tensor<i32>>
    %1 = "stablehlo.get_tuple_element"(%0) {index = 1 : i32} : (tuple<tensor<2xf32>, tensor<i32>>) -> tensor<i32>
    "func.return"(%1) : (tensor<i32>) -> ()
  }
}
