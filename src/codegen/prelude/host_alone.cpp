// For loops that load elements one by one, and for programs over rows, whose ends are single elements: conditions make no branches there, which processors mispredict.
// needs: kn_singles
#define KN_HAS_SINGLES 1
