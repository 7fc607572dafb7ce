// A small plot of one column of the diagnostics, of all runs, with a cursor at the time shown.

import { shown } from './colour.js';

/** Colours of the runs, also beside their names. */
export const RUN_COLOURS = ['#7fb2ff', '#ffb347', '#6fd08c', '#e07b91', '#b39ddb', '#d6d65c', '#5fd0d0', '#c0c0c0'];

const LEFT = 8, RIGHT = 8, TOP = 16, BOTTOM = 18;

/** Columns that say the most, in this order, for the plots that open first. */
export const FIRST = ['kinetic_energy', 'contacts', 'imbalance', 'elastic_energy', 'rigid_kinetic_energy', 'rigid_contacts'];

/** A plot with its choice of column. `seek` gets the time of a click [s]. */
export class Plot {
  constructor(column, seek) {
    this.element = document.createElement('div');
    this.element.className = 'plot';
    this.choice = document.createElement('select');
    this.choice.setAttribute('aria-label', 'Column of the diagnostics');
    this.canvas = document.createElement('canvas');
    this.words = document.createElement('div');
    this.words.className = 'quiet';
    // The cursor is not in the canvas: to draw all curves anew for each frame would cost more than the scene.
    this.cursor = document.createElement('div');
    this.cursor.className = 'cursor';
    const box = document.createElement('div');
    box.className = 'box';
    box.append(this.canvas, this.cursor);
    this.element.append(this.choice, box, this.words);
    Object.assign(this, { column, tables: [], time: 0, range: [0, 1] });
    this.choice.addEventListener('change', () => { this.column = this.choice.value; this.drawn = ''; this.draw(); });
    this.canvas.addEventListener('pointerdown', event => {
      const width = this.canvas.clientWidth - LEFT - RIGHT;
      const share = Math.max(0, Math.min(1, (event.offsetX - LEFT) / width));
      seek(this.range[0] + share * (this.range[1] - this.range[0]));
    });
  }

  /** Takes the tables of the runs; one that could not be read is null. */
  take(tables) {
    this.tables = tables;
    const names = new Set(tables.flatMap(table => table?.columns.map(column => column.name) ?? []));
    names.delete('time');
    if ([...names].join() !== [...this.choice.options].map(option => option.value).join()) {
      this.choice.replaceChildren(...[...names].map(name => new Option(name.replaceAll('_', ' '), name)));
    }
    if (!names.has(this.column)) this.column = [...names][0];
    this.choice.value = this.column;
    this.drawn = '';
    this.draw();
  }

  series() {
    return this.tables.map((table, run) => {
      const find = name => table?.columns.find(column => column.name === name);
      const [time, column] = [find('time'), find(this.column)];
      return time && column ? { run, unit: column.unit, times: time.values, values: column.values } : null;
    }).filter(Boolean);
  }

  /** Shows a time [s]; draws the curves if they or their room changed. */
  draw(time = this.time) {
    this.time = time;
    const box = this.canvas, ratio = window.devicePixelRatio || 1;
    const width = box.clientWidth, height = box.clientHeight;
    if (!width || !height) return;
    if (this.drawn !== `${width} ${height} ${ratio}`) this.drawCurves(box, width, height, ratio);
    this.drawn = `${width} ${height} ${ratio}`;
    this.cursor.hidden = !this.unit;
    if (this.cursor.hidden) return;
    const [first, last] = this.range;
    const share = (Math.max(first, Math.min(last, time)) - first) / (last - first);
    this.cursor.style.transform = `translateX(${(LEFT + share * (width - LEFT - RIGHT)).toFixed(1)}px)`;
    this.say(this.all, time, this.unit.words);
  }

  drawCurves(box, width, height, ratio) {
    const all = this.series();
    this.all = all;
    this.unit = null;
    box.width = Math.round(width * ratio);
    box.height = Math.round(height * ratio);
    const pen = box.getContext('2d');
    pen.scale(ratio, ratio);
    pen.font = '11px system-ui, sans-serif';
    const finite = value => value !== null && Number.isFinite(value);
    let [low, high, first, last] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const { times, values } of all) {
      for (let i = 0; i < times.length; i++) {
        if (!finite(times[i])) continue;
        first = Math.min(first, times[i]); last = Math.max(last, times[i]);
        if (finite(values[i])) { low = Math.min(low, values[i]); high = Math.max(high, values[i]); }
      }
    }
    const unit = all[0]?.unit === '-' ? '' : all[0]?.unit ?? '';
    if (!(high >= low)) { this.words.textContent = 'no numbers'; return; }
    const flat = high === low;
    if (!(last > first)) last = first + 1;
    this.range = [first, last];
    const x = t => LEFT + (t - first) / (last - first) * (width - LEFT - RIGHT);
    const y = v => height - BOTTOM - (flat ? 0.5 : (v - low) / (high - low)) * (height - TOP - BOTTOM);
    this.frameOf(pen, { width, height, low, high, first, last, unit, y });
    for (const { run, times, values } of all) {
      pen.strokeStyle = RUN_COLOURS[run % RUN_COLOURS.length];
      pen.beginPath();
      let drawing = false;
      for (let i = 0; i < times.length; i++) {
        if (!finite(values[i]) || !finite(times[i])) { drawing = false; continue; }
        if (drawing) pen.lineTo(x(times[i]), y(values[i])); else pen.moveTo(x(times[i]), y(values[i]));
        drawing = true;
      }
      pen.stroke();
    }
    this.unit = { words: unit };
  }

  frameOf(pen, { width, height, low, high, first, last, unit, y }) {
    pen.strokeStyle = '#3a424b';
    pen.strokeRect(LEFT + 0.5, TOP + 0.5, width - LEFT - RIGHT - 1, height - TOP - BOTTOM - 1);
    if (low < 0 && high > 0) { pen.beginPath(); pen.moveTo(LEFT, y(0)); pen.lineTo(width - RIGHT, y(0)); pen.stroke(); }
    pen.fillStyle = '#9aa6b2';
    pen.fillText(`${shown(high)} ${unit}`, LEFT, 11);
    pen.fillText(`${shown(low)} ${unit}`, LEFT, height - 5);
    const end = `${shown(first)} to ${shown(last)} s`;
    pen.fillText(end, width - RIGHT - pen.measureText(end).width, height - 5);
  }

  say(all, time, unit) {
    const now = all.map(({ times, values }) => {
      let i = times.findIndex(t => t > time + 1e-12);
      i = i < 0 ? times.length - 1 : Math.max(0, i - 1);
      return values[i] === null ? 'none' : shown(values[i]);
    });
    const thinned = Math.max(1, ...this.tables.map(table => table?.every ?? 1));
    this.words.textContent = `now ${now.join(', ')} ${unit}` + (thinned > 1 ? ` (one step in ${thinned}; short peaks may be missing)` : '');
  }
}
