"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const CELL = 60;
  const WIDE = 620; // machines from here on take the whole width
  const PLAY = '<svg viewBox="0 0 16 16"><path d="M3 2L14 8L3 14Z"/></svg> play';
  const PAUSE = '<svg viewBox="0 0 16 16"><path d="M3 2H7V14H3ZM9 2H13V14H9Z"/></svg> pause';

  let trial = null, at = 0, timer = null;

  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  const text = (value) => (Array.isArray(value) ? `(${value.map(text).join(", ")})` : String(value));
  const signed = (value) => (value > 0 ? "+" : value < 0 ? "−" : "") + String(+Math.abs(value).toFixed(6));
  const plain = (value) => (value < 0 ? "−" : "") + String(+Math.abs(value).toFixed(6));
  const safe = (value) => String(value).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
  const observation = (n) => (n === 0 ? trial.start : trial.steps[n - 1][1]);
  const stateAt = (n) => (n === 0 ? trial.state : trial.steps[n - 1][3]);

  // --- the world ---------------------------------------------------------------------------------------------------
  const view = () => (trial.view === null ? null : data.views[trial.view]);
  const centre = ([x, y]) => [(x + 0.5) * CELL, (view().height - y - 0.5) * CELL];
  const line = ([x1, y1, x2, y2], kind, width) => {
    const h = view().height;
    return `<line class="${kind}" stroke-width="${width}" x1="${x1 * CELL}" y1="${(h - y1) * CELL}" x2="${x2 * CELL}" y2="${(h - y2) * CELL}"/>`;
  };
  const nameOf = (cell) => {
    const mark = view() && view().landmarks.find((m) => m.cells.some((c) => same(c, cell)));
    return mark ? mark.caption : "";
  };

  function drawWorld() {
    const map = view();
    if (!map) {
      $("world").innerHTML = '<svg viewBox="0 0 480 260" role="img" aria-label="observation">' +
        '<text class="caption" x="240" y="70" font-size="16">observation</text>' +
        '<text class="place" id="place" x="240" y="145" font-size="44" font-weight="700"></text>' +
        '<g id="marks"></g></svg>';
      return;
    }
    const free = new Set(map.cells.map(String));
    let out = "";
    for (let x = 0; x < map.width; x++) for (let y = 0; y < map.height; y++) {
      const kind = free.has(`${x},${y}`) ? "floor" : "solid";
      out += `<rect class="${kind}" x="${x * CELL}" y="${(map.height - y - 1) * CELL}" width="${CELL}" height="${CELL}"/>`;
    }
    out += map.doors.map((d) => line(d, "door", 3)).join("") + map.walls.map((w) => line(w, "wall", 6)).join("");
    out += '<polyline class="trail" id="trail" stroke-width="7" points=""/>';
    for (const mark of map.landmarks) for (const cell of mark.cells) {
      const [x, y] = centre(cell);
      const drawn = data.icons[mark.name];
      const said = mark.caption !== mark.sign && !(drawn && !drawn.captioned);
      const icon = drawn ? `<g transform="scale(${said ? 0.86 : 1})">${drawn.svg}</g>`
        : `<rect class="chip" x="-15" y="-15" width="30" height="30" rx="8"/><text class="sign" y="6.5" font-size="18">${safe(mark.sign)}</text>`;
      out += `<g transform="translate(${x} ${y - (said ? 6 : 0)})">${icon}</g>`;
      if (said) out += `<text class="caption" x="${x}" y="${y + 24}" font-size="11">${safe(mark.caption)}</text>`;
    }
    out += '<g id="marks"></g><circle class="agent" id="agent" r="12" stroke-width="3"/>';
    const w = map.width * CELL, h = map.height * CELL;
    $("world").innerHTML = `<svg viewBox="-6 -6 ${w + 12} ${h + 12}" role="img" aria-label="map">${out}</svg>`;
  }

  function showWorld(fired) {
    const here = observation(at), marks = $("marks");
    if (!view()) {
      $("place").textContent = text(here);
      marks.innerHTML = fired ? '<circle class="burst" cx="240" cy="130" stroke-width="6"/>' : "";
      return;
    }
    const onMark = nameOf(here) !== "";
    const [x, y] = centre(here);
    $("agent").setAttribute("cx", x + (onMark ? 17 : 0));
    $("agent").setAttribute("cy", y - (onMark ? 17 : 0));
    $("agent").setAttribute("r", onMark ? 9 : 13);
    $("agent").dataset.cell = here.join(",");
    const way = [trial.start, ...trial.steps.slice(0, at).map((s) => s[1])];
    $("trail").setAttribute("points", way.map((cell) => centre(cell).join(",")).join(" "));
    const wanted = trial.triggers.filter(([u, on]) => u === stateAt(at) && Array.isArray(on) && on.length === 2 && on.every(Number.isInteger));
    marks.innerHTML = wanted.map(([, on]) => {
      const [cx, cy] = centre(on);
      return `<rect class="wanted" stroke-width="3" x="${cx - 26}" y="${cy - 26}" width="52" height="52" rx="10"/>`;
    }).join("") + (fired ? `<circle class="burst" cx="${x}" cy="${y}"/>` : "");
  }

  // --- the machine and the list of steps ---------------------------------------------------------------------------
  function showMachine(fired) {
    const box = $("machine");
    for (const element of box.querySelectorAll(".here, .fired")) element.classList.remove("here", "fired");
    const here = box.querySelector(`[data-state="${stateAt(at)}"]`);
    if (here) {
      here.classList.add("here");
      const [inside, outside] = [here.getBoundingClientRect(), box.getBoundingClientRect()];
      if (inside.left < outside.left || inside.right > outside.right) {
        box.scrollLeft += inside.left - outside.left - outside.width / 2;
      }
    }
    if (!fired) return;
    void box.offsetWidth; // so that the flash starts again
    const label = box.querySelector(`[data-trigger="${trial.steps[at - 1][4]}"]`);
    const arrow = box.querySelector(`[data-arrow="${stateAt(at - 1)}-${stateAt(at)}"]`);
    for (const element of [label, arrow]) if (element) element.classList.add("fired");
  }

  function listSteps() {
    $("steps").innerHTML = [`<li data-step="0"><span class="n">0</span><span class="a">start</span><span>${safe(text(trial.start))}</span></li>`]
      .concat(trial.steps.map(([action, seen, reward, state], n) => {
        const before = stateAt(n), name = nameOf(seen);
        const paid = reward ? `<span class="${reward > 0 ? "good" : "bad"}">${signed(reward)}</span>` : "<span></span>";
        const moved = state !== before ? `<span class="moved">u ${before} → ${state}</span>` : "<span></span>";
        return `<li data-step="${n + 1}"><span class="n">${n + 1}</span><span class="a">${safe(action)}</span>` +
          `<span>${safe(text(seen))}${name ? " " + safe(name) : ""}</span>${moved}${paid}</li>`;
      })).join("");
  }

  function showSteps() {
    const list = $("steps");
    for (const item of list.querySelectorAll("[aria-current]")) item.removeAttribute("aria-current");
    const item = list.children[at];
    item.setAttribute("aria-current", "step");
    const low = item.offsetTop;
    if (low < list.scrollTop || low + item.offsetHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = low - list.clientHeight / 2;
    }
  }

  function show(to, forwards = false) {
    at = Math.max(0, Math.min(trial.steps.length, to));
    const step = at ? trial.steps[at - 1] : null;
    const fired = forwards && step !== null && step[4] !== null;
    $("count").textContent = `${at} / ${trial.steps.length}`;
    $("action").textContent = step ? step[0] : "–";
    $("reward").textContent = step ? signed(step[2]) || "0" : "–";
    $("return").textContent = plain(trial.steps.slice(0, at).reduce((sum, s) => sum + s[2], 0));
    $("state").textContent = `u = ${stateAt(at)}`;
    $("slider").value = at;
    showWorld(fired);
    showMachine(fired);
    showSteps();
    if (at === trial.steps.length) pause();
  }

  // --- playing -----------------------------------------------------------------------------------------------------
  function pause() {
    clearInterval(timer);
    timer = null;
    $("play").innerHTML = PLAY;
    $("play").setAttribute("aria-label", "play");
  }
  function play() {
    if (at === trial.steps.length) show(0);
    $("play").innerHTML = PAUSE;
    $("play").setAttribute("aria-label", "pause");
    timer = setInterval(() => show(at + 1, true), Number($("speed").value));
  }
  const toggle = () => (timer ? pause() : play());
  const go = (to, forwards) => { pause(); show(to, forwards); };

  // --- choosing ----------------------------------------------------------------------------------------------------
  const groups = [...new Set(data.trials.map((t) => t.group))];
  const members = (group) => data.trials.filter((t) => t.group === group);
  function choose(next) {
    pause();
    trial = next;
    $("task").value = trial.group;
    $("seed").innerHTML = members(trial.group).map((t) => `<option value="${t.seed}">${t.seed}</option>`).join("");
    $("seed").value = trial.seed;
    $("outcome").innerHTML = trial.optimal === null ? "" : trial.optimal
      ? '<span class="badge good">optimal</span>' : '<span class="badge bad">not optimal</span>';
    $("machine").innerHTML = data.machines[trial.machine];
    $("stage").classList.toggle("spread", Number($("machine").firstChild.getAttribute("width")) > WIDE);
    $("slider").max = trial.steps.length;
    drawWorld();
    listSteps();
    show(0);
  }

  $("task").innerHTML = groups.map((g) => `<option>${safe(g)}</option>`).join("");
  $("task").addEventListener("change", () => choose(members($("task").value)[0]));
  $("seed").addEventListener("change", () => choose(members(trial.group).find((t) => t.seed === Number($("seed").value))));
  $("first").addEventListener("click", () => go(0));
  $("back").addEventListener("click", () => go(at - 1));
  $("play").addEventListener("click", toggle);
  $("step").addEventListener("click", () => go(at + 1, true));
  $("last").addEventListener("click", () => go(trial.steps.length));
  $("slider").addEventListener("input", () => { const to = Number($("slider").value); go(to, to === at + 1); });
  $("speed").addEventListener("change", () => { if (timer) { pause(); play(); } });
  $("steps").addEventListener("click", (event) => {
    const item = event.target.closest("li");
    if (item) go(Number(item.dataset.step));
  });
  document.addEventListener("keydown", (event) => {
    const tag = event.target.tagName;
    if (event.ctrlKey || event.metaKey || event.altKey || tag === "SELECT" || tag === "INPUT") return;
    const keys = { ArrowRight: () => go(at + 1, true), ArrowLeft: () => go(at - 1), " ": toggle };
    const inPlayer = event.target.closest && event.target.closest("#player");
    if (inPlayer) Object.assign(keys, { Home: () => go(0), End: () => go(trial.steps.length) });
    if (event.key === " " && (tag === "BUTTON" || tag === "A" || tag === "SUMMARY")) return;
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });

  // --- tables that sort, rows that open ----------------------------------------------------------------------------
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells].filter((head) => head.hasAttribute("aria-sort"));
    heads.forEach((head) => head.querySelector("button").addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = (row) => row.cells[head.cellIndex].dataset.value;
      const numbers = head.dataset.kind === "number";
      const order = (a, b) => {
        const [x, y] = [key(a), key(b)];
        if (x === "" || y === "") return (x === "") - (y === ""); // what is unknown comes last
        const less = numbers ? Number(x) - Number(y) : x.localeCompare(y, "en");
        return up ? less : -less;
      };
      table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order));
    }));
    table.tBodies[0].addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (!row || row.dataset.trial === undefined) return;
      choose(data.trials[Number(row.dataset.trial)]);
      $("player").scrollIntoView();
    });
  }

  choose(data.trials[data.first]);
})();
