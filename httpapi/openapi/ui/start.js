// Shows the API document of the same instance. The page loads nothing from other
// origins: no validator, fonts or samples.
"use strict";
readable(document.getElementById("document"));
window.SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#document",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  persistAuthorization: false,
  syntaxHighlight: { theme: "obsidian" },
  plugins: [plainPaths],
});
