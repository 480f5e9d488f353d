//! Safe PJRT: plugins, clients, buffers, executables.
