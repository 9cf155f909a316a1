// CUDA has what the host's prelude of this name computes.
// needs: kn_special_functions
