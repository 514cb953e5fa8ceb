// Swagger UI for the API's own page. It sets styles through the DOM alone, so the site's strict CSP holds here as well.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("api-docs");
  SwaggerUIBundle({
    url: place.dataset.schema,
    domNode: place,
    deepLinking: true,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    // No request leaves this site: not for a badge, and not for somebody else's document.
    validatorUrl: null,
    queryConfigEnabled: false,
    requestInterceptor: (request) => {
      if (new URL(request.url, location.href).origin === location.origin) {
        request.headers["X-CSRFToken"] = place.dataset.csrf;
      }
      return request;
    },
  });
});
