// Shows the document that the same larder serves. Nothing is asked of others:
// no validator, no fonts, no sample.
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
