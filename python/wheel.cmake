# wheel.cmake: what a wheel holds beside the Python files (pyproject.toml asks for the component
# "python"; a plain `cmake --install` leaves it out).
#
#     pymetal/_pymetal.abi3.so      looks for the library in pymetal/lib
#     pymetal/lib/libingot.so.0     looks for the compiler in ../bin
#     pymetal/bin/mslc              looks for the headers in ../share
#     pymetal/share/ingot/stdlib/
#     pymetal/lib/libingot-tensor.so.0
#     ingot/_tensor.abi3.so         looks for both libraries in ../pymetal/lib
#     pymetal/*.pyi, ingot/*.pyi    the stubs, which the build makes
#
# A wheel cannot hold symbolic links: the library goes in under the name it is loaded by.
# INGOT_BUNDLE_LLVM=ON adds LLVM and Clang (210 MB), for machines that have none.
option(INGOT_BUNDLE_LLVM "put LLVM's libraries into the wheel" OFF)
set(PART COMPONENT python EXCLUDE_FROM_ALL)
install(TARGETS _pymetal LIBRARY DESTINATION pymetal ${PART})
install(FILES ${_pymetal_STUBS} DESTINATION pymetal ${PART})
install(PROGRAMS $<TARGET_FILE:ingot> DESTINATION pymetal/lib
    RENAME $<TARGET_SONAME_FILE_NAME:ingot> ${PART})
install(TARGETS mslc RUNTIME DESTINATION pymetal/bin ${PART})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/src/compiler/stdlib/ DESTINATION pymetal/share/ingot/stdlib
    ${PART} PATTERN "*.py" EXCLUDE)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION pymetal ${PART})
if(TARGET _ingot_tensor)
    install(TARGETS _ingot_tensor LIBRARY DESTINATION ingot ${PART})
    install(FILES ${_ingot_tensor_STUBS} DESTINATION ingot ${PART})
    install(PROGRAMS $<TARGET_FILE:ingot_tensor> DESTINATION pymetal/lib
        RENAME $<TARGET_SONAME_FILE_NAME:ingot_tensor> ${PART})
endif()
if(INGOT_BUNDLE_LLVM)
    set_target_properties(mslc PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
    foreach(lib libLLVM.so.22.1 libclang-cpp.so.22.1)
        file(REAL_PATH ${LLVM_ROOT}/lib/${lib} real)
        install(PROGRAMS ${real} DESTINATION pymetal/lib RENAME ${lib} ${PART})
    endforeach()
endif()
