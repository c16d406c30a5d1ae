# cmake -DNM=<nm> -DLIBRARY=<file> -DNAMES=<regular expression> -P exports.cmake fails if a shared library exports a symbol of another name,
# or no symbol.
execute_process(COMMAND ${NM} --dynamic --defined-only --format=posix ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" symbols "${symbols}")
list(LENGTH symbols count)
list(FILTER symbols EXCLUDE REGEX "${NAMES}")
if(count EQUAL 0 OR symbols)
  message(FATAL_ERROR "[exports] got ${count} symbols, of them other ones: ${symbols}; expected all to match ${NAMES}")
endif()
message("${count} symbols")
