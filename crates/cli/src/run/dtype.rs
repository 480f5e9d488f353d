//! Element types, as files call them.

use rectiflow_pjrt::ElementType;
use safetensors::Dtype;

/// What safetensors calls a type, where it can hold it.
const SAFETENSORS: &[(Dtype, ElementType)] = &[
    (Dtype::BOOL, ElementType::Pred),
    (Dtype::I8, ElementType::S8),
    (Dtype::I16, ElementType::S16),
    (Dtype::I32, ElementType::S32),
    (Dtype::I64, ElementType::S64),
    (Dtype::U8, ElementType::U8),
    (Dtype::U16, ElementType::U16),
    (Dtype::U32, ElementType::U32),
    (Dtype::U64, ElementType::U64),
    (Dtype::F16, ElementType::F16),
    (Dtype::BF16, ElementType::BF16),
    (Dtype::F32, ElementType::F32),
    (Dtype::F64, ElementType::F64),
    (Dtype::C64, ElementType::C64),
    (Dtype::F8_E5M2, ElementType::F8E5M2),
    // As PyTorch writes it: without infinities.
    (Dtype::F8_E4M3, ElementType::F8E4M3FN),
    (Dtype::F8_E5M2FNUZ, ElementType::F8E5M2FNUZ),
    (Dtype::F8_E4M3FNUZ, ElementType::F8E4M3FNUZ),
    (Dtype::F8_E8M0, ElementType::F8E8M0FNU),
    (Dtype::F4, ElementType::F4E2M1FN),
];

pub(super) fn from_safetensors(dtype: Dtype) -> Option<ElementType> {
    SAFETENSORS.iter().find(|(name, _)| *name == dtype).map(|(_, element_type)| *element_type)
}

pub(super) fn to_safetensors(element_type: ElementType) -> Option<Dtype> {
    SAFETENSORS.iter().find(|(_, known)| *known == element_type).map(|(name, _)| *name)
}

/// Types that NumPy has by itself, by letter and bytes. The rest come from `ml_dtypes`, and NumPy
/// saves those as bytes without a type.
const NUMPY: &[(char, u64, ElementType)] = &[
    ('b', 1, ElementType::Pred),
    ('i', 1, ElementType::S8),
    ('i', 2, ElementType::S16),
    ('i', 4, ElementType::S32),
    ('i', 8, ElementType::S64),
    ('u', 1, ElementType::U8),
    ('u', 2, ElementType::U16),
    ('u', 4, ElementType::U32),
    ('u', 8, ElementType::U64),
    ('f', 2, ElementType::F16),
    ('f', 4, ElementType::F32),
    ('f', 8, ElementType::F64),
    ('c', 8, ElementType::C64),
    ('c', 16, ElementType::C128),
];

pub(super) fn from_numpy(letter: char, bytes: u64) -> Option<ElementType> {
    let found = NUMPY.iter().find(|row| (row.0, row.1) == (letter, bytes));
    found.map(|row| row.2)
}

/// Whether NumPy saves the type as untyped bytes.
pub(super) fn is_untyped_in_numpy(element_type: ElementType) -> bool {
    element_type != ElementType::Token && NUMPY.iter().all(|row| row.2 != element_type)
}
