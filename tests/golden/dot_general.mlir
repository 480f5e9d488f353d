module {
  func.func @main(%arg0: tensor<2x3x4xbf16>, %arg1: tensor<2x5x4xbf16>) -> (tensor<2x3x5xf32>, tensor<2x3x5xbf16>, tensor<2x3x5xf32>) {
    %0 = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>} : (tensor<2x3x4xbf16>, tensor<2x5x4xbf16>) -> tensor<2x3x5xf32>
    %1 = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<2x3x4xbf16>, tensor<2x5x4xbf16>) -> tensor<2x3x5xbf16>
    %2 = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>} : (tensor<2x3x4xbf16>, tensor<2x5x4xbf16>) -> tensor<2x3x5xf32>
    "func.return"(%0, %1, %2) : (tensor<2x3x5xf32>, tensor<2x3x5xbf16>, tensor<2x3x5xf32>) -> ()
  }
}
