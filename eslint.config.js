import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  {
    languageOptions: { globals: { ...globals.browser, Bokeh: "readonly" } },
    rules: {
      complexity: ["error", 15],
      "max-len": ["error", { code: 120 }],
      "max-lines-per-function": ["error", { max: 80, skipBlankLines: true, skipComments: true }],
    },
  },
  { files: ["tests/js/**"], languageOptions: { globals: globals.node } },
];
