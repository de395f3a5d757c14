import { cloudflare } from "@cloudflare/vite-plugin";
import react from "@vitejs/plugin-react";
import agents from "agents/vite";
import { defineConfig } from "vite";

const wanted = process.env.PORT ?? "";
/** A port that was asked for must be that one; the usual one may move up when it is taken. */
const address = { port: wanted === "" ? 5174 : Number(wanted), strictPort: wanted !== "" };
/** Where chats and files are kept between runs; the tests point it at a temporary folder. */
const state = process.env.EXAMPLE_STATE;

export default defineConfig({
  plugins: [agents(), react(), cloudflare(state === undefined ? {} : { persistState: { path: state } })],
  server: address,
  preview: address,
  // The packages in this repository have their own copies of these; Worker and page must have one of each.
  resolve: { dedupe: ["agents", "ai", "zod", "react", "react-dom", "@cloudflare/ai-chat"] },
  build: { chunkSizeWarningLimit: 1_000 },
  optimizeDeps: {
    // Named here so that the first page load does not find them one by one and reload in between.
    include: ["react-dom/client", "react-markdown", "remark-gfm", "agents/react", "@cloudflare/ai-chat/react"]
  }
});
