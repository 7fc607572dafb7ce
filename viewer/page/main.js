// The page: runs, one timeline for all, colours, forces, plots, and what goes wrong in words.

import { openSource } from './source.js';
import { FIELDS, shown, materialColour } from './colour.js';
import { connect } from './controls.js';
import { FIRST, Plot } from './plot.js';
import { View } from './view.js';

const by = id => document.getElementById(id);

/** How often a run that goes on is asked for new frames [ms]. */
const POLL = 1000;

/** What is shown. `moments`: times of all frames of all runs [s]. */
const state = { views: [], plots: [], tables: [], moments: [0], at: 0, time: 0, playing: false, speed: 1, field: 'file', soft: 'automatic', forces: 'particles', troubles: new Map() };

function trouble(key, message) {
  if (message) state.troubles.set(key, message); else state.troubles.delete(key);
  const lines = [...state.troubles.values()];
  by('status').textContent = lines.join(' | ');
  by('status').classList.toggle('bad', lines.length > 0);
}

let asked = false;
function wake() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(now => { asked = false; tick(now); });
}

let before = 0;
const drawn = [];
function tick(now) {
  const passed = Math.min(0.1, Math.max(0, (now - before) / 1000));
  before = now;
  const isReady = state.views.map(view => view.seek(state.time, state.playing)).every(Boolean);
  // Time stands still until the frame of every run is here: none is skipped because it came late.
  if (state.playing && isReady) advance(passed * state.speed);
  const news = state.views.map(view => view.draw(now, state.playing)).some(Boolean);
  if (news) { drawn.push(now); while (drawn.length > 60) drawn.shift(); }
  refresh();
  if (state.playing) wake();
}

function advance(seconds) {
  const last = state.moments.at(-1);
  state.time = Math.min(last, state.time + seconds);
  if (state.time >= last && !isLive()) setPlaying(false);
  state.at = momentAt(state.time);
}

const isLive = () => state.views.some(view => view.status?.status === 'running');

function momentAt(time) {
  let low = 0, high = state.moments.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (state.moments[middle] <= time + 1e-9) low = middle; else high = middle - 1;
  }
  return low;
}

function go(index) {
  state.at = Math.max(0, Math.min(state.moments.length - 1, index));
  state.time = state.moments[state.at];
  wake();
}

function setPlaying(playing) {
  state.playing = playing;
  by('play').textContent = playing ? '| |' : '\u25B6';
  before = performance.now();
  wake();
}

function play() {
  if (!state.playing && state.at === state.moments.length - 1 && !isLive()) go(0);
  setPlaying(!state.playing);
}

/** What beside the pictures depends on the time and the frames shown. */
let last = {};
function refresh() {
  const { at, time, views } = state;
  for (const view of views) trouble(`view ${view.run}`, view.error ? `${view.status?.name ?? view.run}: ${view.error}` : '');
  const key = `${at} ${state.moments.length} ${views.map(view => view.shownFrame)} ${views.map(view => view.hasSurfaces)} ${state.field} ${state.forces}`;
  if (key === last.key) return;
  last.key = key;
  by('time').max = state.moments.length - 1;
  by('time').value = at;
  by('clock').textContent = `${time.toFixed(3)} s, frame ${Math.max(0, views[0]?.shownFrame ?? 0)}`;
  for (const plot of state.plots) plot.draw(time);
  by('soft').textContent = views.some(view => view.hasSurfaces) ? 'Surfaces' : 'Particles';
  by('soft').disabled = !views.some(view => view.source.hasSurfaces && view.frame?.isSoft);
  forceScale();
  offerFields();
  shareRange();
}

/** The choice of fields: those that some run has. */
function offerFields() {
  const has = new Set(state.views.flatMap(view => view.fields?.map(field => field.key) ?? []));
  const offered = FIELDS.filter(field => has.has(field.key));
  const select = by('field');
  if (offered.map(field => field.key).join() === [...select.options].map(option => option.value).join()) return;
  select.replaceChildren(...offered.map(({ key, words, unit }) => new Option(unit ? `${words} [${unit}]` : words, key)));
  select.value = has.has(state.field) ? state.field : 'file';
}

/** One scale for all runs, so that colours can be compared; it grows with the frames seen. */
function shareRange() {
  const field = FIELDS.find(({ key }) => key === state.field);
  const ranges = state.views.map(view => view.ranges[state.field]).filter(range => range && range[1] >= range[0]);
  const legend = by('legend');
  legend.hidden = true;
  if (state.field === 'material') { legendOfMaterials(); return; }
  by('note').textContent = state.note;
  if (state.field === 'file' || ranges.length === 0) return;
  const range = [Math.min(...ranges.map(r => r[0])), Math.max(...ranges.map(r => r[1]))];
  for (const view of state.views) {
    const old = view.sharedRange;
    view.sharedRange = range;
    if (!old || old[0] !== range[0] || old[1] !== range[1]) { view.colour(); wake(); }
  }
  legend.hidden = false;
  by('legend-low').textContent = shown(range[0]);
  by('legend-high').textContent = `${shown(range[1])} ${field.unit} (of the frames seen)`;
  const pen = by('legend-scale').getContext('2d');
  const scale = state.views.find(view => view.scale)?.scale;
  for (let x = 0; scale && x < 128; x++) {
    pen.fillStyle = `rgb(${scale.slice(6 * x, 6 * x + 3).join(' ')})`;
    pen.fillRect(x, 0, 1, 10);
  }
}

function legendOfMaterials() {
  const view = state.views.find(view => view.scene);
  const seen = new Set(view?.frame?.material ?? []);
  const parts = [...seen].sort((a, b) => a - b).slice(0, 12).map(index => {
    const part = document.createElement('span');
    part.style.color = materialColour(index);
    part.textContent = `\u25A0 ${view.scene.materials[index] ?? `material ${index}`} `;
    return part;
  });
  by('note').replaceChildren(...parts);
}

/** Force that an arrow of full length stands for: the same for all runs [N]. */
function forceScale() {
  const scales = state.views.map(view => view.status?.force_scale ?? 0);
  const largest = Math.max(0, ...scales);
  const power = 10 ** Math.floor(Math.log10(largest || 1));
  const newtons = largest > 0 ? [1, 2, 5, 10].map(digit => digit * power).find(value => value >= largest) : 0;
  const view = state.views.find(view => view.arrowSize);
  for (const view of state.views) {
    view.options = { field: state.field, soft: state.soft, forces: state.forces, newtons };
  }
  const hasForces = newtons > 0 && state.forces !== 'none' && view;
  by('force-scale').textContent = hasForces
    ? `${shown(newtons)} N is ${shown(view.arrowSize)} m long; orange: particles, blue: contacts` : newtons > 0 ? '' : 'no forces recorded';
}

function restyle() {
  forceScale();
  for (const view of state.views) { view.sharedRange = null; view.colour(); view.force(); }
  last = {};
  wake();
}

/** Asks how the runs stand and takes what is new. */
async function poll(source) {
  try {
    const runs = await source.runs();
    trouble('server', '');
    if (state.views.length === 0) open(source, runs.length);
    const was = state.views.map(view => `${view.generation} ${view.times.length} ${view.status?.status}`);
    await Promise.all(runs.map((status, run) => state.views[run].take(status)
      .catch(error => state.views[run].say(error.message))));
    const changed = state.views.filter((view, run) => was[run] !== `${view.generation} ${view.times.length} ${view.status?.status}`);
    if (changed.length > 0) await news(source, changed);
  } catch (error) {
    trouble('server', error.message);
  }
  refresh();
  wake();
  if (source.live) setTimeout(() => poll(source), POLL);
}

function open(source, count) {
  state.views = Array.from({ length: count }, (_, run) => new View(source, run, wake));
  by('views').className = count > 4 ? 'many' : `n${count}`;
  by('views').append(...state.views.map(view => view.element));
}

async function news(source, changed) {
  const wasAtEnd = state.at === state.moments.length - 1 && state.moments.length > 1;
  const all = [...new Set(state.views.flatMap(view => view.times))].sort((a, b) => a - b);
  state.moments = all.length > 0 ? all : [0];
  // Who looks at the end of a run that goes on wants to see what comes.
  if (wasAtEnd && isLive() && !state.playing) go(state.moments.length - 1); else state.at = momentAt(state.time);
  const names = state.views.map(view => view.status?.name).filter(Boolean);
  document.title = `${names.join(', ')} - Pliant`;
  for (const view of state.views) {
    const warnings = view.status?.warnings ?? [];
    if (warnings.length > 0) view.name.title = warnings.join('\n');
  }
  forceScale();
  for (const view of changed) {
    try {
      state.tables[view.run] = view.status.error ? null : await source.diagnostics(view.run);
      trouble(`table ${view.run}`, '');
    } catch (error) {
      state.tables[view.run] = null;
      trouble(`table ${view.run}`, `${view.status.name}: plots: ${error.message}`);
    }
  }
  plots();
  last = {};
}

function plots() {
  const names = new Set(state.tables.flatMap(table => table?.columns.map(column => column.name) ?? []));
  if (state.plots.length === 0 && names.size > 1) {
    const isMoving = name => state.tables.some(table => {
      const values = table?.columns.find(column => column.name === name)?.values ?? [];
      return values.some(value => value !== values[0]);
    });
    const chosen = FIRST.filter(name => names.has(name) && isMoving(name)).slice(0, 4);
    const seek = time => { state.time = time; go(momentAt(time)); };
    state.plots = (chosen.length > 0 ? chosen : ['mass']).map(name => new Plot(name, seek));
    by('plots').append(...state.plots.map(plot => plot.element));
  }
  for (const plot of state.plots) plot.take(state.tables);
}

connect({
  play, go,
  step: by => { setPlaying(false); go(state.at + by); },
  end: () => go(state.moments.length - 1),
  fit: () => { for (const view of state.views) view.fit(view.frame, null); wake(); },
  soft: () => { state.soft = state.views.some(view => view.hasSurfaces) ? 'particles' : 'surfaces'; forceScale(); last = {}; wake(); },
  speed: speed => { state.speed = speed; },
  field: field => { state.field = field; restyle(); },
  forces: forces => { state.forces = forces; restyle(); },
});
window.addEventListener('error', event => trouble('page', `the page failed: ${event.message}`));
window.addEventListener('unhandledrejection', event => trouble('page', `the page failed: ${event.reason?.message ?? event.reason}`));

// For checks of the page from outside.
window.pliantViewer = { state, drawn, go, setPlaying };

state.note = '';
try {
  const source = openSource();
  state.note = source.note;
  by('note').textContent = source.note;
  poll(source);
} catch (error) {
  trouble('page', error.message);
}
