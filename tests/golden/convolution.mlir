module {
  func.func @main(%arg0: tensor<1x4x8x8xf32>, %arg1: tensor<6x4x3x3xf32>, %arg2: tensor<1x16x4xf32>, %arg3: tensor<3x2x6xf32>) -> (tensor<1x6x8x8xf32>, tensor<1x13x6xf32>) {
    %0 = "stablehlo.convolution"(%arg0, %arg1) {window_strides = array<i64: 1, 1>, padding = dense<[[1, 1], [1, 1]]> : tensor<2x2xi64>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x8x8xf32>
    %1 = "stablehlo.convolution"(%arg2, %arg3) {window_strides = array<i64: 2>, padding = dense<[[0, 0]]> : tensor<1x2xi64>, lhs_dilation = array<i64: 2>, rhs_dilation = array<i64: 3>, window_reversal = array<i1: true>, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64} : (tensor<1x16x4xf32>, tensor<3x2x6xf32>) -> tensor<1x13x6xf32>
    "func.return"(%0, %1) : (tensor<1x6x8x8xf32>, tensor<1x13x6xf32>) -> ()
  }
}
