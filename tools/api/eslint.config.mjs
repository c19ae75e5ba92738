// What make lint-ts requires of the TypeScript code, beside its types and its format.
import typescript from "typescript-eslint";

export default [
  {
    files: ["**/*.ts"],
    ignores: ["**/*.d.ts"],
    languageOptions: { parser: typescript.parser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: { "no-nested-ternary": "error" },
  },
];
