// In-page measurements of scripts/bench --console, injected before a page's first script as `watch`: time until usable,
// delay from a pointer move to the painted content of its timestamp, frame durations.

(() => {
  let moved = null;
  let topologies = 0;
  let drawn = -1;
  const longTasks = [];
  let requests = 0;

  addEventListener(
    "pointermove",
    (event) => {
      if (event.buttons !== 0) moved = event.timeStamp;
    },
    true,
  );
  new PerformanceObserver((list) => longTasks.push(...list.getEntries())).observe({ type: "longtask", buffered: true });

  // A map is a canvas: only the responses it receives reveal which timestamp it shows.
  const originalFetch = window.fetch;
  window.fetch = async (...input) => {
    const url = String(input[0] instanceof Request ? input[0].url : input[0]);
    requests += 1;
    if (!url.includes("/api/v1/topology")) return originalFetch(...input);
    const response = await originalFetch(...input);
    for (const name of ["json", "text"]) {
      const original = response[name].bind(response);
      response[name] = async () => {
        const body = await original();
        topologies += 1;
        drawn = -1;
        return body;
      };
    }
    return response;
  };
  for (const name of ["fillRect", "clearRect", "drawImage"]) {
    const original = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (...input) {
      drawn = performance.now();
      return original.apply(this, input);
    };
  }

  const isWaiting = () => document.querySelector("main .waiting, main [role=alert]") !== null;
  /** Whether every visible row is loaded; names of referenced records may still be the previous ones. */
  const hasRows = () => {
    const table = document.querySelector(".list table");
    if (table === null || table.classList.contains("is-earlier")) return false;
    const rows = table.querySelectorAll("tr[data-row]");
    if (rows.length === 0) return false;
    for (const row of rows) if (row.querySelector("input") === null) return false;
    for (const name of table.querySelectorAll("td bdi")) if (name.textContent === "…") return false;
    return true;
  };
  const isShown = {
    start: () => document.querySelector(".start h2") !== null && !isWaiting(),
    host: () => document.querySelector("main dl") !== null && !isWaiting(),
    rows: hasRows,
    map: () => topologies > 0 && drawn > 0,
  };

  const frame = () => new Promise((done) => requestAnimationFrame(done));
  /** Resolves with the time at which the current frame is painted. */
  const painted = () =>
    new Promise((done) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => done(performance.now());
      port2.postMessage(null);
    });
  const shownInstant = () => document.querySelector("#shown-instant")?.getAttribute("aria-valuenow") ?? null;
  const isUpdated = (view, before) => (view === "map" ? topologies > before.topologies && drawn > 0 : isShown[view]());

  window.watch = {
    /** Measures from the navigation until heading and content are painted, and until the first paint. */
    async usable(view) {
      while (!(document.querySelector("main h1")?.textContent && isShown[view]())) await frame();
      const usableMs = await painted();
      let first = performance.getEntriesByName("first-contentful-paint")[0];
      while (first === undefined) {
        await frame();
        first = performance.getEntriesByName("first-contentful-paint")[0];
      }
      return { usableMs, firstPaintMs: first.startTime };
    },

    /** Measures the next move, from its event to the painted frame; null if the shown timestamp did not change. */
    async next(view, withinMs) {
      const before = { instant: shownInstant(), topologies };
      const start = performance.now();
      const requestsBefore = requests;
      moved = null;
      while (performance.now() - start < withinMs) {
        await frame();
        if (moved === null || shownInstant() === before.instant) continue;
        if (isUpdated(view, before)) return { tookMs: (await painted()) - moved, requests: requests - requestsBefore };
      }
      return null;
    },

    /** Follows a drag until `stop`, and measures for each painted timestamp the delay since its move. */
    follow(view) {
      const ages = [];
      let isOver = false;
      const requestsBefore = requests;
      let current = shownInstant();
      let since = null;
      let before = { topologies };
      const watchFrames = async () => {
        while (!isOver) {
          await frame();
          // The current content is painted now, even if the next timestamp was just requested.
          const done = since !== null && isUpdated(view, before) ? since : null;
          if (done !== null) since = null;
          const instant = shownInstant();
          if (instant !== current) {
            current = instant;
            since = moved;
            before = { topologies };
          }
          if (done !== null) void painted().then((paintedMs) => ages.push(paintedMs - done));
        }
      };
      void watchFrames();
      window.watch.stop = () => {
        isOver = true;
        return { ages, requests: requests - requestsBefore };
      };
    },

    /** Records until `stop` the intervals between frames, and counts frames with a missing row. */
    frames() {
      const lengths = [];
      let isOver = false;
      let blank = 0;
      longTasks.length = 0;
      const watchFrames = async () => {
        let last = await frame();
        while (!isOver) {
          const now = await frame();
          lengths.push(now - last);
          last = now;
          const rows = document.querySelectorAll(".list tr[data-row]");
          const seen = [...rows].slice(12, -12);
          if (seen.some((row) => row.querySelector("input") === null)) blank += 1;
        }
      };
      void watchFrames();
      window.watch.stop = () => {
        isOver = true;
        return { lengths, blank, longTasks: longTasks.map(({ duration }) => duration) };
      };
    },
  };
})();
