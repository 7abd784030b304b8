// Measurements of scripts/bench --console in a page, injected before its first script: time until usable, delay from a
// pointer move to the painted content of that timestamp, frame durations. Called as `watch`.

(() => {
  let moved = null;
  let topologies = 0;
  let drawn = -1;
  const longTasks = [];
  let asked = 0;

  addEventListener(
    "pointermove",
    (event) => {
      if (event.buttons !== 0) moved = event.timeStamp;
    },
    true,
  );
  new PerformanceObserver((list) => longTasks.push(...list.getEntries())).observe({ type: "longtask", buffered: true });

  // A map is a canvas: only its answers reveal the timestamp shown.
  const ownFetch = window.fetch;
  window.fetch = async (...input) => {
    const url = String(input[0] instanceof Request ? input[0].url : input[0]);
    asked += 1;
    if (!url.includes("/api/v1/topology")) return ownFetch(...input);
    const response = await ownFetch(...input);
    for (const name of ["json", "text"]) {
      const own = response[name].bind(response);
      response[name] = async () => {
        const body = await own();
        topologies += 1;
        drawn = -1;
        return body;
      };
    }
    return response;
  };
  for (const name of ["fillRect", "clearRect", "drawImage"]) {
    const own = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (...input) {
      drawn = performance.now();
      return own.apply(this, input);
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
  const is = {
    start: () => document.querySelector(".start h2") !== null && !isWaiting(),
    host: () => document.querySelector("main dl") !== null && !isWaiting(),
    rows: hasRows,
    map: () => topologies > 0 && drawn > 0,
  };

  const frame = () => new Promise((done) => requestAnimationFrame(done));
  /** Resolves once the current frame is painted. */
  const painted = () =>
    new Promise((done) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => done(performance.now());
      port2.postMessage(null);
    });
  const shownInstant = () => document.querySelector("#shown-instant")?.getAttribute("aria-valuenow") ?? null;
  const isThere = (what, before) => (what === "map" ? topologies > before.topologies && drawn > 0 : is[what]());

  window.watch = {
    /** Milliseconds from the navigation until heading and content are painted, and to the first paint. */
    async usable(what) {
      while (!(document.querySelector("main h1")?.textContent && is[what]())) await frame();
      const usableMs = await painted();
      let first = performance.getEntriesByName("first-contentful-paint")[0];
      while (first === undefined) {
        await frame();
        first = performance.getEntriesByName("first-contentful-paint")[0];
      }
      return { usableMs, firstPaintMs: first.startTime };
    },

    /** Measures the next move, from its event to the painted frame. Null if the timestamp did not change. */
    async next(what, withinMs) {
      const before = { instant: shownInstant(), topologies };
      const start = performance.now();
      const askedBefore = asked;
      moved = null;
      while (performance.now() - start < withinMs) {
        await frame();
        if (moved === null || shownInstant() === before.instant) continue;
        if (isThere(what, before)) return { tookMs: (await painted()) - moved, requests: asked - askedBefore };
      }
      return null;
    },

    /** Follows a drag until `stop`: for each painted timestamp, the delay since its move. */
    follow(what) {
      const ages = [];
      let isOver = false;
      const askedBefore = asked;
      let current = shownInstant();
      let since = null;
      let before = { topologies };
      const look = async () => {
        while (!isOver) {
          await frame();
          // The current content is painted now, even if the next timestamp was just requested.
          const done = since !== null && isThere(what, before) ? since : null;
          if (done !== null) since = null;
          const instant = shownInstant();
          if (instant !== current) {
            current = instant;
            since = moved;
            before = { topologies };
          }
          if (done !== null) void painted().then((at) => ages.push(at - done));
        }
      };
      void look();
      window.watch.stop = () => {
        isOver = true;
        return { ages, requests: asked - askedBefore };
      };
    },

    /** Until `stop`: intervals between frames, and the number of frames with a missing row. */
    frames() {
      const lengths = [];
      let isOver = false;
      let blank = 0;
      longTasks.length = 0;
      const look = async () => {
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
      void look();
      window.watch.stop = () => {
        isOver = true;
        return { lengths, blank, longTasks: longTasks.map(({ duration }) => duration) };
      };
    },
  };
})();
