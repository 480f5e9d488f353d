module {
  func.func @main(%arg0: tensor<6x3x3xf32>, %arg1: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<6x2xf32>) {
    %0 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %1 = "stablehlo.constant"() {value = dense<0.0e0> : tensor<6x2xf32>} : () -> tensor<6x2xf32>
    %2:4 = "stablehlo.while"(%0, %arg1, %1, %arg0) ({
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<2x3xf32>, %arg4: tensor<6x2xf32>, %arg5: tensor<6x3x3xf32>):
      %3 = "stablehlo.constant"() {value = dense<6> : tensor<i32>} : () -> tensor<i32>
      %4 = "stablehlo.compare"(%arg2, %3) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%4) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg6: tensor<i32>, %arg7: tensor<2x3xf32>, %arg8: tensor<6x2xf32>, %arg9: tensor<6x3x3xf32>):
      %5 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %6 = "stablehlo.dynamic_slice"(%arg9, %arg6, %5, %5) {slice_sizes = array<i64: 1, 3, 3>} : (tensor<6x3x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x3xf32>
      %7 = "stablehlo.reshape"(%6) : (tensor<1x3x3xf32>) -> tensor<3x3xf32>
      %8 = "stablehlo.dot_general"(%arg7, %7) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
      %9 = "stablehlo.constant"() {value = dense<0.0e0> : tensor<f32>} : () -> tensor<f32>
      %10 = "stablehlo.reduce"(%8, %9) ({
      ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
        %11 = "stablehlo.add"(%arg10, %arg11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%11) : (tensor<f32>) -> ()
      }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
      %12 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
      %13 = "stablehlo.add"(%arg6, %12) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %14 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %15 = "stablehlo.reshape"(%10) : (tensor<2xf32>) -> tensor<1x2xf32>
      %16 = "stablehlo.dynamic_update_slice"(%arg8, %15, %arg6, %14) : (tensor<6x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<6x2xf32>
      "stablehlo.return"(%13, %8, %16, %arg9) : (tensor<i32>, tensor<2x3xf32>, tensor<6x2xf32>, tensor<6x3x3xf32>) -> ()
    }) : (tensor<i32>, tensor<2x3xf32>, tensor<6x2xf32>, tensor<6x3x3xf32>) -> (tensor<i32>, tensor<2x3xf32>, tensor<6x2xf32>, tensor<6x3x3xf32>)
    "func.return"(%2#1, %2#2) : (tensor<2x3xf32>, tensor<6x2xf32>) -> ()
  }
}
