/** Mounts the page. */
import "@cloudflare/think-example-kit/styles.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app";
import "./styles/desk.css";
import "./styles/run-card.css";

const root = document.getElementById("root");
if (root === null) throw new Error("index.html must contain an element with the id root.");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>
);
