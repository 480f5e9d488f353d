// Stands in for the compiler's header, which the libclang wheel does not carry.
#pragma once
#ifndef __cplusplus
#define bool _Bool
#define true 1
#define false 0
#endif
