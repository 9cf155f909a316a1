/* The error of a device that was lost in a fork. */
#include "device/lost.h"

#include "base/error.h"

bool kn_cuda_lost;

const char kn_cuda_lost_message[] =
    "CUDA was started before this process was forked, and does not survive fork(): use the host here "
    "(KILN_DEVICE_HOST, KILN_TARGET=host), or start CUDA in the children alone";

kiln_status kn_device_say_lost(void)
{
    return kn_error(KILN_ERROR_DEVICE, "the device cannot be used: %s", kn_cuda_lost_message);
}
