//! The argument structs this crate passes to plugins.

use rectiflow_pjrt_sys as sys;

use crate::api::CStruct;

macro_rules! c_structs {
    ($($name:ident)*) => {$(
        const _: () = assert!(std::mem::offset_of!(sys::$name, struct_size) == 0);
        // SAFETY: a struct of the C header made of integers, raw pointers, bools
        // and nullable function pointers, so zero bytes are valid; the line above
        // checks that `struct_size` comes first.
        unsafe impl CStruct for sys::$name {}
    )*};
}

c_structs! {
    PJRT_Error_Destroy_Args PJRT_Error_Message_Args PJRT_Error_GetCode_Args
    PJRT_Plugin_Initialize_Args PJRT_Plugin_Attributes_Args
    PJRT_Event_Destroy_Args PJRT_Event_IsReady_Args
    PJRT_Event_Await_Args PJRT_Event_OnReady_Args
    PJRT_Client_Create_Args PJRT_Client_Destroy_Args PJRT_Client_PlatformName_Args
    PJRT_Client_PlatformVersion_Args PJRT_Client_ProcessIndex_Args
    PJRT_Client_TopologyDescription_Args PJRT_Client_Devices_Args
    PJRT_Client_AddressableDevices_Args PJRT_Client_AddressableMemories_Args
    PJRT_Client_Compile_Args PJRT_Client_Load_Args PJRT_Client_DefaultDeviceAssignment_Args
    PJRT_Client_CreateUninitializedBuffer_Args PJRT_Client_CreateErrorBuffer_Args
    PJRT_Client_CreateAliasBuffer_Args PJRT_Client_FulfillAliasBuffer_Args
    PJRT_Client_BufferFromHostBuffer_Args PJRT_Client_CreateBuffersForAsyncHostToDevice_Args
    PJRT_AsyncHostToDeviceTransferManager_Destroy_Args
    PJRT_AsyncHostToDeviceTransferManager_TransferData_Args
    PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args

    PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args
    PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args
    PJRT_DeviceDescription_Id_Args PJRT_DeviceDescription_ProcessIndex_Args
    PJRT_DeviceDescription_Attributes_Args PJRT_DeviceDescription_Kind_Args
    PJRT_DeviceDescription_DebugString_Args PJRT_DeviceDescription_ToString_Args
    PJRT_Device_GetDescription_Args PJRT_Device_IsAddressable_Args
    PJRT_Device_LocalHardwareId_Args PJRT_Device_AddressableMemories_Args
    PJRT_Device_DefaultMemory_Args PJRT_Device_MemoryStats_Args
    PJRT_Device_ClearMemoryStats_Args
    PJRT_Memory_Id_Args PJRT_Memory_Kind_Args PJRT_Memory_Kind_Id_Args
     PJRT_Memory_ToString_Args
    PJRT_Memory_AddressableByDevices_Args
    PJRT_Executable_Destroy_Args PJRT_Executable_Name_Args PJRT_Executable_NumReplicas_Args
    PJRT_Executable_NumPartitions_Args PJRT_Executable_NumOutputs_Args
    PJRT_Executable_SizeOfGeneratedCodeInBytes_Args PJRT_Executable_Fingerprint_Args
    PJRT_Executable_GetCostAnalysis_Args PJRT_Executable_GetCompiledMemoryStats_Args
    PJRT_Executable_OutputElementTypes_Args PJRT_Executable_OutputDimensions_Args
    PJRT_Executable_OutputMemoryKinds_Args PJRT_Executable_ParameterMemoryKinds_Args
    PJRT_Executable_OptimizedProgram_Args PJRT_Executable_Serialize_Args
    PJRT_Executable_DeserializeAndLoad_Args
    PJRT_LoadedExecutable_Destroy_Args PJRT_LoadedExecutable_GetExecutable_Args
    PJRT_LoadedExecutable_AddressableDevices_Args PJRT_LoadedExecutable_Execute_Args
    PJRT_Buffer_DynamicDimensionIndices_Args
    PJRT_Buffer_Destroy_Args PJRT_Buffer_ElementType_Args PJRT_Buffer_Dimensions_Args
    PJRT_Buffer_ToHostBuffer_Args PJRT_Buffer_OnDeviceSizeInBytes_Args
    PJRT_Buffer_CopyToDevice_Args PJRT_Buffer_CopyToMemory_Args PJRT_Buffer_Device_Args
    PJRT_Buffer_Memory_Args PJRT_Buffer_ReadyEvent_Args
    PJRT_TopologyDescription_Create_Args PJRT_TopologyDescription_Destroy_Args
    PJRT_TopologyDescription_PlatformName_Args PJRT_TopologyDescription_PlatformVersion_Args
    PJRT_TopologyDescription_GetDeviceDescriptions_Args PJRT_TopologyDescription_Serialize_Args
    PJRT_TopologyDescription_Deserialize_Args PJRT_TopologyDescription_Attributes_Args
    PJRT_TopologyDescription_Fingerprint_Args PJRT_Compile_Args
    PJRT_Program PJRT_ExecuteOptions PJRT_Buffer_MemoryLayout
    PJRT_FFI_Register_Handler_Args
    PJRT_Layouts_MemoryLayout_Destroy_Args PJRT_Layouts_MemoryLayout_Serialize_Args
    PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args

    PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args
    PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args
    PJRT_DeviceDescription_MemoryDescriptions_Args PJRT_MemoryDescription_Kind_Args
}
