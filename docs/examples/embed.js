const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? undefined;
for (const element of document.querySelectorAll("graph-view")) {
  element.token = token; // before the element is defined, and so before it connects
  element.addEventListener("select", ({ detail }) => { document.title = detail.key ?? "Our applications"; });
}
await import("./graph-view.js");
