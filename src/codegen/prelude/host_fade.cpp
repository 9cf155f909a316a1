// needs: kn_fade
// The number by which a sum of exponentials fades, as its text has it (cuda_narrow.cu).
#define kn_fade(exact, x) (exact)
