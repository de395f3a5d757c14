/** Mounts the page. */
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app";
import "@cloudflare/think-example-kit/styles.css";

const root = document.getElementById("root");
if (root === null) throw new Error("index.html must contain an element with the id root.");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>
);
