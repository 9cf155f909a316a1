// The members of a struct, by which the host keeps each of them by itself: typedef kn_members<&best::value, &best::at> kn_fields;
// needs: kn_members
template <auto... kn_member> struct kn_members;
