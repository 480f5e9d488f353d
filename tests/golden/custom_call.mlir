module {
  func.func @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
    %0 = "stablehlo.custom_call"(%arg0) {call_target_name = "rms_norm", has_side_effect = false, backend_config = {"eps" = 0x358637BD : f32, "mode" = "a \"quoted\" word", "nested" = {"axes" = array<i64: 0, 1>}, "on" = true}, api_version = 4 : i32, operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "func.return"(%0) : (tensor<2x3xf32>) -> ()
  }
}
