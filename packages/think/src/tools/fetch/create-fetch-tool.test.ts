import { describe, expect, it, vi } from "vitest";
import { createFetchTool, type FetchOutput, type FetchToolOptions } from "./create-fetch-tool";
import type { FetchFunction } from "./request";

type Answer = Response | (() => Response | Promise<Response>);

/** A web of a few pages. Unknown ones fail as a name that cannot be resolved does. */
function web(pages: Readonly<Record<string, Answer>>, options: Partial<FetchToolOptions> = {}) {
  const fetch = vi.fn<FetchFunction>(async (url) => {
    const page = pages[url];
    if (page === undefined) throw new TypeError(`getaddrinfo ENOTFOUND ${url}`);
    return typeof page === "function" ? await page() : page;
  });
  const tool = createFetchTool({ allow: ["https://ok.example"], fetch, ...options });
  const read = (url: string, offset?: number): Promise<FetchOutput> =>
    tool.execute({ url, ...(offset === undefined ? {} : { offset }) });
  return { tool, fetch, read, asked: () => fetch.mock.calls.map(([url]) => url) };
}

const page = (body: BodyInit, type: string) => new Response(body, { headers: { "content-type": type } });
const redirect = (location: string, status = 302) => new Response("moved", { status, headers: { location } });
const errorOf = (output: FetchOutput) => ("error" in output ? output.error : "");

describe("issue 5.6: fetch", () => {
  it("asks for Markdown first, with GET, and returns it as it is", async () => {
    const { read, fetch } = web({
      "https://ok.example/a": page("# Hello\n\n*x*", "text/markdown; charset=utf-8")
    });
    expect(await read("https://ok.example/a#part")).toEqual({
      url: "https://ok.example/a",
      mediaType: "text/markdown",
      format: "markdown",
      content: "# Hello\n\n*x*",
      totalChars: 12
    });
    const init = fetch.mock.calls[0]?.[1];
    expect(init).toMatchObject({ method: "GET", redirect: "manual" });
    expect(init?.headers["accept"]).toMatch(/^text\/markdown,/);
  });

  it("turns HTML into Markdown and leaves other texts alone", async () => {
    const { read } = web({
      "https://ok.example/": page("<title>T</title><h1>Hi</h1><script>x</script>", "text/html"),
      "https://ok.example/json": page('{"a":1}', "application/json"),
      "https://ok.example/none": new Response(new TextEncoder().encode(" <!DOCTYPE html><p>x")),
      "https://ok.example/latin": page(Uint8Array.of(0xfc), "text/plain; charset=iso-8859-1"),
      "https://ok.example/odd": page("ok\0", "text/plain; charset=nonsense")
    });
    expect(await read("https://ok.example/")).toMatchObject({
      format: "markdown",
      title: "T",
      content: "# Hi"
    });
    expect(await read("https://ok.example/json")).toMatchObject({ format: "text", content: '{"a":1}' });
    expect(await read("https://ok.example/none")).toMatchObject({ mediaType: "text/html", content: "x" });
    expect(await read("https://ok.example/latin")).toMatchObject({ content: "ü" });
    expect(await read("https://ok.example/odd")).toMatchObject({ content: "ok\uFFFD" });
  });

  it("asks nobody when the address is not allowed", async () => {
    const { read, fetch } = web({});
    for (const url of ["https://other.example/", "http://ok.example/", "https://127.0.0.1/", "nonsense"])
      expect(errorOf(await read(url))).not.toBe("");
    expect(fetch).not.toHaveBeenCalled();
  });

  it("follows redirects, relative ones too, and checks each of them", async () => {
    const { read, asked } = web(
      {
        "https://ok.example/a": redirect("/b?x=1", 308),
        "https://ok.example/b?x=1": redirect("https://docs.example/c"),
        "https://docs.example/c": page("there", "text/plain")
      },
      { allow: ["https://ok.example", "https://docs.example"] }
    );
    expect(await read("https://ok.example/a")).toMatchObject({
      url: "https://docs.example/c",
      content: "there"
    });
    expect(asked()).toEqual(["https://ok.example/a", "https://ok.example/b?x=1", "https://docs.example/c"]);
  });

  it.each([
    ["another site", "https://evil.example/?token=secret", "not on the list"],
    ["the metadata service", "http://169.254.169.254/latest/meta-data/", "not public"],
    ["loopback in hexadecimal", "https://0x7f000001/", "not public"],
    ["a mapped address", "https://[::ffff:10.0.0.1]/", "not public"],
    ["plain http", "http://ok.example/", "not on the list"],
    ["a user name", "https://ok.example@evil.example/", "user name"],
    ["a file", "file:///etc/passwd", "Only https"],
    ["a port", "https://ok.example:22/", "not on the list"],
    ["nothing readable", "https://[", "not an absolute URL"]
  ])("does not follow a redirect to %s, and says so in one sentence", async (_, location, text) => {
    const { read, asked } = web({ "https://ok.example/a": redirect(location) });
    const error = errorOf(await read("https://ok.example/a"));
    expect(error.toLowerCase()).toContain(text.toLowerCase());
    expect(error).toMatch(/^https:\/\/ok\.example\/a redirects, but /);
    expect(error).not.toContain("secret");
    expect(asked()).toEqual(["https://ok.example/a"]);
  });

  it("takes nothing from a fetch that followed a redirect by itself", async () => {
    const followed = page("secret", "text/plain");
    Object.defineProperty(followed, "redirected", { value: true });
    const { read } = web({ "https://ok.example/a": followed });
    expect(errorOf(await read("https://ok.example/a"))).toContain("without a check");
  });

  it("keeps its sentences short, whatever the server or the model sends", async () => {
    const long = "x".repeat(10_000);
    const { read } = web({
      "https://ok.example/type": page("x", `application/${long}`),
      "https://ok.example/status": new Response("", { status: 500, statusText: long }),
      "https://ok.example/throws": () => Promise.reject(new Error(long))
    });
    const urls = ["type", "status", "throws", long, `${"a".repeat(1500)}?${long}`].map(
      (path) => `https://ok.example/${path}`
    );
    for (const url of [...urls, `https://${"a.".repeat(900)}local/`]) {
      const error = errorOf(await read(url));
      expect(error).not.toBe("");
      expect(error.length).toBeLessThan(700);
    }
  });

  it("gives up on a redirect loop", async () => {
    const { read, fetch } = web({ "https://ok.example/a": () => redirect("/a") });
    expect(errorOf(await read("https://ok.example/a"))).toContain("redirects more than 5 times");
    expect(fetch).toHaveBeenCalledTimes(6);
  });

  it("explains statuses, binary files and network failures", async () => {
    const { read } = web({
      "https://ok.example/404": new Response("x", { status: 404, statusText: "Not Found" }),
      "https://ok.example/304": new Response(null, { status: 304 }),
      "https://ok.example/lost": new Response("x", { status: 302 }),
      "https://ok.example/png": page(Uint8Array.of(1, 2, 3), "image/png"),
      "https://ok.example/bin": new Response(Uint8Array.of(0, 1, 2)),
      "https://ok.example/empty": new Response(null)
    });
    expect(await read("https://ok.example/404?key=secret")).toEqual({
      error:
        "https://ok.example/404 could not be read: getaddrinfo ENOTFOUND https://ok.example/404?key=secret."
    });
    expect(await read("https://ok.example/404")).toEqual({
      error: "https://ok.example/404 answered with status 404 (Not Found)."
    });
    expect(errorOf(await read("https://ok.example/304"))).toContain("status 304");
    expect(errorOf(await read("https://ok.example/lost"))).toContain("status 302");
    expect(errorOf(await read("https://ok.example/png"))).toContain("is image/png (3 B)");
    expect(errorOf(await read("https://ok.example/bin"))).toContain("application/octet-stream");
    expect(await read("https://ok.example/empty")).toMatchObject({ content: "", totalChars: 0 });
  });

  it("reads no more of a body than its limit, and stops the sender", async () => {
    let sent = 0;
    const cancelled = vi.fn<() => void>();
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent++;
        controller.enqueue(new TextEncoder().encode("ä".repeat(500)));
      },
      cancel: cancelled
    });
    const { read } = web({ "https://ok.example/a": page(endless, "text/plain") }, { maxBytes: 10_001 });
    const output = await read("https://ok.example/a");
    expect(output).toMatchObject({
      // The last character was cut in two and is left out.
      content: "ä".repeat(5000),
      note: expect.stringContaining("Only the first 9.8 KB of the page were read")
    });
    expect(cancelled).toHaveBeenCalledOnce();
    expect(sent).toBeLessThan(20);
  });

  it("returns a long page in parts and says how to go on", async () => {
    const { read } = web({ "https://ok.example/a": () => page("0123456789", "text/plain") }, { maxChars: 4 });
    expect(await read("https://ok.example/a")).toMatchObject({
      content: "0123",
      totalChars: 10,
      note: expect.stringContaining("offset 4")
    });
    const last = await read("https://ok.example/a", 8);
    expect(last).toMatchObject({ content: "89" });
    expect(last).not.toHaveProperty("note");
    expect(await read("https://ok.example/a", 50)).toMatchObject({
      content: "",
      note: expect.stringContaining("only 10")
    });
  });

  it("ends in time, whether the server does not answer, does not finish, or fetch ignores its signal", async () => {
    const silent = new Promise<Response>(() => undefined);
    const started = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) });
    const { read } = web(
      { "https://ok.example/silent": () => silent, "https://ok.example/slow": page(started, "text/plain") },
      { timeout: 20 }
    );
    expect(errorOf(await read("https://ok.example/silent"))).toContain("within 20 ms");
    expect(errorOf(await read("https://ok.example/slow"))).toContain("within 20 ms");
  });

  it("stops when the turn is cancelled, and tells the request", async () => {
    const asked = Promise.withResolvers<AbortSignal>();
    const tool = createFetchTool({
      allow: ["https://ok.example"],
      fetch: (_, { signal }) => {
        asked.resolve(signal);
        return new Promise(() => undefined);
      }
    });
    const controller = new AbortController();
    const output = tool.execute({ url: "https://ok.example/" }, { abortSignal: controller.signal });
    const signal = await asked.promise;
    expect(signal.aborted).toBe(false);
    controller.abort();
    expect(errorOf(await output)).toContain("cancelled");
    expect(signal.aborted).toBe(true);
    expect(
      errorOf(await tool.execute({ url: "https://ok.example/" }, { abortSignal: AbortSignal.abort() }))
    ).toContain("cancelled");
  });

  it("tells the model what it may read, and checks options when it is made", () => {
    const { tool } = web(
      {},
      { allow: Array.from({ length: 30 }, (_, index) => `https://s${index}.example`) }
    );
    expect(tool.description).toContain("https://s0.example");
    expect(tool.description).toContain("and 10 more");
    expect(() => web({}, { timeout: 0 })).toThrow("timeout");
    expect(() => web({}, { maxChars: Number.NaN })).toThrow("maxChars");
    expect(() => web({}, { allow: [] })).toThrow("allow-list");
  });
});
