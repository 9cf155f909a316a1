# cmake -DOUTPUT=file.h -DSOURCES="a.c;b.cu" -P hash_sources.cmake: one hash over names and texts, so that a change of the generator's code or of a
# template is a change of every key.
set(all "")
foreach(source ${SOURCES})
    file(SHA256 ${source} hash)
    get_filename_component(name ${source} NAME)
    string(APPEND all "${name} ${hash}\n")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING ${hash} 0 20 hash)
file(WRITE ${OUTPUT} "#define KN_GENERATOR_SOURCES \"${hash}\"\n")
