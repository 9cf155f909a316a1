// For loops that load elements one by one: conditions make no branches there, which processors mispredict.
// needs: kn_singles
#define KN_HAS_SINGLES 1
