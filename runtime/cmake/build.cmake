# What runtime/CMakeLists.txt builds with.

# The C files that the meson.build files of FOLDER and below name, without those that are generated.
function(tkc_sources result folder)
  set(sources)
  file(GLOB_RECURSE lists "${folder}/meson.build")
  foreach(list IN LISTS lists)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
    get_filename_component(here "${list}" DIRECTORY)
    file(READ "${list}" text)
    string(REGEX REPLACE "#[^\n]*" "" text "${text}")
    string(REGEX MATCHALL "'[A-Za-z0-9_/-]+\\.c'" names "${text}")
    foreach(name IN LISTS names)
      string(REPLACE "'" "" name "${name}")
      if(EXISTS "${here}/${name}")
        list(APPEND sources "${here}/${name}")
      endif()
    endforeach()
  endforeach()
  set(${result} "${sources}" PARENT_SCOPE)
endfunction()

# Stops if one of the variables has no program or library in it.
function(tkc_needs name package)
  if(NOT ${name})
    message(FATAL_ERROR "tkc: building tkc takes ${package}; -DTKC_EXECUTABLE=/path/to/tkc takes one that is built, of version ${PROJECT_VERSION}")
  endif()
endfunction()

function(tkc_build_compiler root)
  find_program(TKC_FLEX flex)
  tkc_needs(TKC_FLEX "flex")
  find_program(TKC_BISON bison)
  tkc_needs(TKC_BISON "bison")
  find_program(TKC_PYTHON NAMES python3)
  tkc_needs(TKC_PYTHON "Python 3")
  find_path(TKC_POPT_INCLUDE popt.h)
  find_library(TKC_POPT popt)
  tkc_needs(TKC_POPT_INCLUDE "popt (Debian: libpopt-dev)")
  tkc_needs(TKC_POPT "popt (Debian: libpopt-dev)")
  find_path(TKC_JANSSON_INCLUDE jansson.h) # without it there is no `tkc --lsp`
  find_library(TKC_JANSSON jansson)
  mark_as_advanced(TKC_JANSSON TKC_JANSSON_INCLUDE)
  mark_as_advanced(TKC_FLEX TKC_BISON TKC_PYTHON TKC_POPT TKC_POPT_INCLUDE)

  set(made "${CMAKE_CURRENT_BINARY_DIR}/made")
  file(MAKE_DIRECTORY "${made}")
  set(grammar "${root}/grammar")
  add_custom_command(OUTPUT "${made}/tk.lex.c" "${made}/tk.lex.h" DEPENDS "${grammar}/tk.l" VERBATIM
    COMMAND "${TKC_FLEX}" "--outfile=${made}/tk.lex.c" "--header-file=${made}/tk.lex.h" "${grammar}/tk.l")
  add_custom_command(OUTPUT "${made}/tk.tab.c" "${made}/tk.tab.h" DEPENDS "${grammar}/tk.y" VERBATIM
    COMMAND "${TKC_BISON}" "--header=${made}/tk.tab.h" "--output=${made}/tk.tab.c" "${grammar}/tk.y")
  set(math "${root}/runtime/include/tkc/tkc_math.h")
  set(helpers "${root}/compiler/host/helpers.py")
  add_custom_command(OUTPUT "${made}/helpers.c" DEPENDS "${helpers}" "${math}" VERBATIM
    COMMAND "${TKC_PYTHON}" "${helpers}" "${math}" "${made}/helpers.c")
  set(amalgamate "${root}/compiler/driver/texts/amalgamate.py")
  add_custom_command(OUTPUT "${made}/runtime_text.c" DEPENDS "${amalgamate}" DEPFILE "${made}/runtime_text.c.d" VERBATIM
    COMMAND "${TKC_PYTHON}" "${amalgamate}" "${root}/runtime" "${root}/LICENSE" "${PROJECT_VERSION}" "${made}/runtime_text.c" "${made}/runtime_text.c.d")
  set(embed "${root}/compiler/util/embed.sh")
  file(READ "${root}/compiler/check/meson.build" texts)
  string(REGEX MATCHALL "[a-z_]+\\.tk" texts "${texts}") # in their order
  list(TRANSFORM texts PREPEND "${root}/compiler/check/")
  add_custom_command(OUTPUT "${made}/prelude.c" DEPENDS "${embed}" ${texts} VERBATIM
    COMMAND sh "${embed}" "${made}/prelude.c" check_prelude ${texts})
  foreach(part base object)
    set(support "${root}/compiler/python/support_${part}.py")
    add_custom_command(OUTPUT "${made}/python_${part}.c" DEPENDS "${embed}" "${support}" VERBATIM
      COMMAND sh "${embed}" "${made}/python_${part}.c" "python_${part}_support" "${support}")
  endforeach()
  set(explain "${root}/compiler/driver/texts/explain.py")
  file(READ "${root}/compiler/driver/meson.build" pages)
  string(REGEX MATCH "foreach page : [^\n]*" pages "${pages}")
  string(REGEX MATCHALL "'[a-z]+'" pages "${pages}")
  list(TRANSFORM pages REPLACE "'([a-z]+)'" "${root}/docs/errors/\\1.md")
  add_custom_command(OUTPUT "${made}/explain_entries.c" DEPENDS "${explain}" ${pages} VERBATIM
    COMMAND "${TKC_PYTHON}" "${explain}" "${made}/explain_entries.c" ${pages})

  tkc_sources(sources "${root}/compiler")
  if(NOT TKC_JANSSON OR NOT TKC_JANSSON_INCLUDE)
    list(FILTER sources EXCLUDE REGEX "/compiler/lsp/")
  endif()
  add_executable(tkc_compiler ${sources} "${made}/tk.lex.c" "${made}/tk.lex.h" "${made}/tk.tab.c" "${made}/tk.tab.h" "${made}/helpers.c" "${made}/prelude.c"
    "${made}/runtime_text.c" "${made}/python_base.c" "${made}/python_object.c" "${made}/explain_entries.c")
  add_executable(tkc::compiler ALIAS tkc_compiler)
  target_include_directories(tkc_compiler PRIVATE "${root}/compiler" "${made}" "${TKC_POPT_INCLUDE}")
  target_link_libraries(tkc_compiler PRIVATE "${TKC_POPT}" m)
  target_compile_definitions(tkc_compiler PRIVATE "TKC_VERSION=\"${PROJECT_VERSION}\"" "TKC_INCLUDE_DIR=\"${root}/runtime/include\"" "TKC_LIB_NAME=\"lib\""
    "TKC_LIB_DIR=\"${CMAKE_CURRENT_BINARY_DIR}\"" "TKC_FLAGS=\"${TKC_FLAGS}\"" "TKC_CLANG_FLAGS=\"${TKC_CLANG_FLAGS}\"")
  if(TKC_JANSSON AND TKC_JANSSON_INCLUDE)
    target_include_directories(tkc_compiler PRIVATE "${TKC_JANSSON_INCLUDE}")
    target_link_libraries(tkc_compiler PRIVATE "${TKC_JANSSON}")
    target_compile_definitions(tkc_compiler PRIVATE TKC_HAVE_LSP)
  endif()
  set_target_properties(tkc_compiler PROPERTIES OUTPUT_NAME tkc RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
endfunction()
