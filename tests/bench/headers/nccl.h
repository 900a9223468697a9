// Replaces NCCL's header, with the declarations that LightGBM's host code uses. No kernel uses them.
#pragma once

typedef struct ncclComm *ncclComm_t;
typedef enum { ncclSuccess } ncclResult_t;
typedef enum { ncclSum, ncclMax, ncclMin } ncclRedOp_t;
typedef enum { ncclInt8, ncclUint8, ncclInt32, ncclUint32, ncclInt64, ncclUint64, ncclFloat32, ncclFloat64 } ncclDataType_t;
typedef struct { char internal[128]; } ncclUniqueId;

static inline const char *ncclGetErrorString(ncclResult_t) { return ""; }
template <typename... T> static inline ncclResult_t ncclAllReduce(T...) { return ncclSuccess; }
static inline ncclResult_t ncclGroupStart() { return ncclSuccess; }
static inline ncclResult_t ncclGroupEnd() { return ncclSuccess; }
static inline ncclResult_t ncclCommDestroy(ncclComm_t) { return ncclSuccess; }
