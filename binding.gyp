{
  # CMakeLists.txt is the only description of the build; this target only runs it, so that `node-gyp rebuild` and tools
  # that look for binding.gyp come to the same add-on. npm itself runs the "install" script of package.json instead.
  "targets": [
    {
      "target_name": "banyan",
      "type": "none",
      "actions": [
        {
          "action_name": "cmake_js",
          "inputs": ["CMakeLists.txt", "package.json"],
          "outputs": ["native/build/Release/banyan.node"],
          "action": ["node", "scripts/build-native.mjs"]
        }
      ]
    }
  ]
}
