# cmake -DOUTPUT=file.h -DSOURCES="a.c;b.c" -P hash_sources.cmake: one hash over the texts, so that a change of the generator's code is a change of every key.
set(all "")
foreach(source ${SOURCES})
    file(SHA256 ${source} hash)
    string(APPEND all ${hash})
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING ${hash} 0 8 hash)
file(WRITE ${OUTPUT} "#define KN_GENERATOR_SOURCES \"${hash}\"\n")
