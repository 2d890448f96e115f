# Toolchain: the C++ compiler of the ziglang package, for machines without one and for other systems.
#
# ROSENBLATT_ZIG_TARGET names another system, for example aarch64-linux-gnu.
# zig compiles for the processor at hand, with FMA, unless told: every file gets a CPU flag. It keeps
# what it compiled (its libc++ among it) in ROSENBLATT_ZIG_FOLDER, not in the home directory.
set(ROSENBLATT_ZIG ON)
if(NOT ROSENBLATT_ZIG_FOLDER)
  set(ROSENBLATT_ZIG_FOLDER "${CMAKE_BINARY_DIR}/zig")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES
  ROSENBLATT_ZIG_FOLDER ROSENBLATT_ZIG_TARGET Python_EXECUTABLE)

execute_process(
  COMMAND "${Python_EXECUTABLE}" -c "import os, ziglang; print(os.path.dirname(ziglang.__file__))"
  OUTPUT_VARIABLE ziglang OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "cmake/zig.cmake needs the package ziglang: pip install ziglang")
endif()

set(target "")
if(ROSENBLATT_ZIG_TARGET)
  set(target "-target ${ROSENBLATT_ZIG_TARGET}")
  string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR "${ROSENBLATT_ZIG_TARGET}")
  if(ROSENBLATT_ZIG_TARGET MATCHES "windows")
    set(CMAKE_SYSTEM_NAME Windows)
  elseif(ROSENBLATT_ZIG_TARGET MATCHES "macos")
    set(CMAKE_SYSTEM_NAME Darwin)
  else()
    set(CMAKE_SYSTEM_NAME Linux)
  endif()
endif()

# CMake wants one program per tool.
foreach(tool c++ cc ar ranlib)
  if(CMAKE_HOST_WIN32)
    set(path "${ROSENBLATT_ZIG_FOLDER}/${tool}.cmd")
    set(text "@set ZIG_GLOBAL_CACHE_DIR=${ROSENBLATT_ZIG_FOLDER}/cache
@set ZIG_LOCAL_CACHE_DIR=${ROSENBLATT_ZIG_FOLDER}/cache
@\"${ziglang}/zig.exe\" ${tool} %*\n")
  else()
    set(path "${ROSENBLATT_ZIG_FOLDER}/${tool}")
    set(text "#!/bin/sh
export ZIG_GLOBAL_CACHE_DIR='${ROSENBLATT_ZIG_FOLDER}/cache'
export ZIG_LOCAL_CACHE_DIR='${ROSENBLATT_ZIG_FOLDER}/cache'
exec '${ziglang}/zig' ${tool} \"$@\"\n")
  endif()
  if(NOT EXISTS "${path}")
    file(WRITE "${path}" "${text}")
    file(CHMOD "${path}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  endif()
  set(zig_${tool} "${path}")
endforeach()
set(CMAKE_CXX_COMPILER "${zig_c++}")
set(CMAKE_C_COMPILER "${zig_cc}")
set(CMAKE_AR "${zig_ar}" CACHE FILEPATH "")
set(CMAKE_RANLIB "${zig_ranlib}" CACHE FILEPATH "")
set(CMAKE_CXX_FLAGS_INIT "${target} -mcpu=baseline -ffp-contract=off -fno-sanitize=undefined")
