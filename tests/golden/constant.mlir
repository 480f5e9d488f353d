module {
  func.func @main() -> (tensor<2x3xbf16>, tensor<f32>, tensor<3xf32>, tensor<2x1xi1>, tensor<65xi16>, tensor<2xi4>, tensor<2xf8E4M3FN>, tensor<complex<f32>>, tensor<0x3xf32>) {
    %0 = "stablehlo.constant"() {value = dense<1.0e-1> : tensor<2x3xbf16>} : () -> tensor<2x3xbf16>
    %1 = "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
    %2 = "stablehlo.constant"() {value = dense<[1.0000000149011612e-1, -0.0e0, 0x7FC00000]> : tensor<3xf32>} : () -> tensor<3xf32>
    %3 = "stablehlo.constant"() {value = dense<[[true], [false]]> : tensor<2x1xi1>} : () -> tensor<2x1xi1>
    %4 = "stablehlo.constant"() {value = dense<"0x00000100020003000400050006000700080009000A000B000C000D000E000F0010001100120013001400150016001700180019001A001B001C001D001E001F0020002100220023002400250026002700280029002A002B002C002D002E002F0030003100320033003400350036003700380039003A003B003C003D003E003F004000"> : tensor<65xi16>} : () -> tensor<65xi16>
    %5 = "stablehlo.constant"() {value = dense<[7, -8]> : tensor<2xi4>} : () -> tensor<2xi4>
    %6 = "stablehlo.constant"() {value = dense<[0x38, 0x7F]> : tensor<2xf8E4M3FN>} : () -> tensor<2xf8E4M3FN>
    %7 = "stablehlo.constant"() {value = dense<(1.5e0, 0.0e0)> : tensor<complex<f32>>} : () -> tensor<complex<f32>>
    %8 = "stablehlo.constant"() {value = dense<> : tensor<0x3xf32>} : () -> tensor<0x3xf32>
    "func.return"(%0, %1, %2, %3, %4, %5, %6, %7, %8) : (tensor<2x3xbf16>, tensor<f32>, tensor<3xf32>, tensor<2x1xi1>, tensor<65xi16>, tensor<2xi4>, tensor<2xf8E4M3FN>, tensor<complex<f32>>, tensor<0x3xf32>) -> ()
  }
}
