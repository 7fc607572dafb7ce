// Looks at the page in a browser without a screen: it loads without errors, plays, its pixels change, and
// soft bodies are shown as surfaces and as particles. Optional: exits with 3 where there is no Chromium.
//
//   node page.mjs URL [screenshot.png [seconds of the run [script]]]
//
// It speaks the browser's debugging protocol over Node's own WebSocket (Node 20.10 or later).

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash } from 'node:crypto';

if (!globalThis.WebSocket) {
  // Node 20 and 21 have it behind a flag.
  const again = spawnSync(process.execPath, ['--experimental-websocket', ...process.argv.slice(1)], { stdio: 'inherit' });
  process.exit(again.status ?? 1);
}

const [url, picture, seconds, script] = process.argv.slice(2);
const browser = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(path => existsSync(path));
if (!browser || !url) {
  console.error(browser ? 'usage: node page.mjs URL [PICTURE [SECONDS [SCRIPT]]]' : 'there is no Chromium');
  process.exit(3);
}

const wait = ms => new Promise(done => setTimeout(done, ms));
const profile = mkdtempSync(join(tmpdir(), 'viewer-page-'));
const child = spawn(browser, [
  '--headless=new', '--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
  '--window-size=1280,720', '--hide-scrollbars', '--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank',
], { stdio: ['ignore', 'ignore', 'pipe'] });

/** The browser prints where it listens. */
const address = await new Promise((found, failed) => {
  let said = '';
  child.stderr.on('data', data => {
    said += data;
    const match = said.match(/DevTools listening on (ws:\S+)/);
    if (match) found(match[1]);
  });
  child.on('exit', code => failed(new Error(`the browser ended with ${code}: ${said.slice(-500)}`)));
});

const socket = new WebSocket(address);
await new Promise((open, failed) => { socket.onopen = open; socket.onerror = failed; });
const waiting = new Map(), problems = [];
let number = 0, session;
socket.onmessage = ({ data }) => {
  const { id, method, params, result, error } = JSON.parse(data);
  if (id) {
    const [done, failed] = waiting.get(id);
    waiting.delete(id);
    if (error) failed(new Error(error.message)); else done(result);
  }
  if (method === 'Runtime.exceptionThrown') problems.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
  if (method === 'Runtime.consoleAPICalled' && ['error', 'assert'].includes(params.type)) problems.push(params.args.map(a => a.value ?? a.description).join(' '));
  if (method === 'Log.entryAdded' && params.entry.level === 'error') problems.push(`${params.entry.text} ${params.entry.url ?? ''}`);
};
const ask = (method, params = {}) => new Promise((done, failed) => {
  waiting.set(++number, [done, failed]);
  socket.send(JSON.stringify({ id: number, method, params, sessionId: session }));
});
const evaluate = async expression => {
  const { result, exceptionDetails } = await ask('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
};
const until = async (expression, what, limit = 60000) => {
  for (const end = Date.now() + limit; Date.now() < end; await wait(100)) if (await evaluate(expression).catch(() => false)) return;
  throw new Error(`${what} did not happen within ${limit / 1000} s; status: ${await evaluate("document.getElementById('status')?.textContent")}`);
};
const photograph = async () => Buffer.from((await ask('Page.captureScreenshot', { format: 'png' })).data, 'base64');
/** Digest of what is drawn in the views, without the words and buttons around. */
const drawing = async () => digest(await evaluate(`pliantViewer.state.views.map(view => {
  view.renderer.render(view.world, view.camera); return view.renderer.domElement.toDataURL(); }).join()`));
const digest = bytes => createHash('sha256').update(bytes).digest('hex');

/** What is shown of soft bodies: the pixels differ between surfaces and particles, and come back. */
async function modes() {
  const soft = 'pliantViewer.state.views.some(view => view.frame.isSoft && view.source.hasSurfaces)';
  if (!await evaluate(soft)) return console.log('no surfaces to look at');
  const show = async mode => {
    const shows = "document.getElementById('soft').textContent";
    if (await evaluate(shows) !== mode) await evaluate("window.dispatchEvent(new KeyboardEvent('keydown', { key: 's' }))");
    await until(`${shows} === '${mode}'`, mode);
    const made = mode === 'Surfaces' ? 'view.shownSurfaces?.frame' : '!view.shownSurfaces';
    await until(`pliantViewer.state.views.every(view => !view.frame.isSoft || ${made})`, `the picture of ${mode}`);
    await wait(1500);
    return drawing();
  };
  const surfaces = await show('Surfaces'), particles = await show('Particles');
  const vertices = await evaluate('pliantViewer.state.views.map(view => view.surfaces.shown?.vertices ?? 0).join()');
  console.log(`surfaces of ${vertices} vertices`);
  if (vertices.split(',').every(count => count === '0')) problems.push('the surfaces have no vertices');
  if (surfaces === particles) problems.push('surfaces and particles have the same pixels');
  const field = await evaluate("pliantViewer.state.views[0].fields.at(-1).key");
  await show('Surfaces');
  const choose = key => evaluate(`(() => { const s = document.getElementById('field'); s.value = '${key}'; s.dispatchEvent(new Event('change')); })()`);
  await choose(field);
  await wait(1500);
  if (await drawing() === surfaces) problems.push(`the field ${field} does not colour the surface`);
  await choose('file');
  await wait(1500);
  if (await show('Surfaces') !== surfaces) problems.push('the surface does not look as before');
}

let code = 0;
try {
  const { targetInfos } = await ask('Target.getTargets');
  session = (await ask('Target.attachToTarget', { targetId: targetInfos.find(t => t.type === 'page').targetId, flatten: true })).sessionId;
  await Promise.all([ask('Runtime.enable'), ask('Log.enable'), ask('Page.enable')]);
  await ask('Emulation.setDeviceMetricsOverride', { width: 1280, height: 720, deviceScaleFactor: 1, mobile: false });
  const begun = Date.now();
  await ask('Page.navigate', { url });
  await until('window.pliantViewer?.state.views.every(view => view.shownFrame >= 0) && pliantViewer.state.views.length > 0', 'the first picture');
  console.log(`first picture after ${Date.now() - begun} ms`);
  await wait(500);
  const first = await drawing();
  await evaluate('pliantViewer.setPlaying(true)');
  await until('pliantViewer.state.at > 3', 'playing');
  const shown = await evaluate(`new Promise(done => { const from = performance.now(), before = pliantViewer.drawn.at(-1);
    const frames = new Set(); const look = () => { frames.add(pliantViewer.state.views[0].shownFrame);
    if (performance.now() - from < 4000) return requestAnimationFrame(look);
    const ticks = pliantViewer.drawn.filter(t => t > before); const span = (ticks.at(-1) - ticks[0]) / 1000;
    done(\`\${((ticks.length - 1) / span).toFixed(1)} pictures/s, \${(frames.size / 4).toFixed(1)} frames of the run/s\`); }; look(); })`);
  console.log(shown);
  await evaluate('pliantViewer.setPlaying(false)');
  if (await drawing() === first) problems.push('the pixels did not change while it played');
  await modes();
  if (script) console.log(await evaluate(script));
  if (seconds) {
    await evaluate(`(() => { const s = pliantViewer.state; pliantViewer.go(s.moments.findLastIndex(t => t <= ${Number(seconds)} + 1e-9)); })()`);
    await until('pliantViewer.state.views.every(view => view.shownFrame === view.frameAt(pliantViewer.state.time))', 'the frame');
  }
  await wait(800);
  if (picture) writeFileSync(picture, await photograph());
  const status = await evaluate("document.getElementById('status').textContent");
  if (status) problems.push(`status: ${status}`);
} catch (error) {
  problems.push(error.message);
}
for (const problem of problems) { console.error(problem); code = 1; }
child.kill();
await new Promise(done => { child.on('exit', done); setTimeout(done, 3000); });
// Processes of the browser may still be writing there; what stays is in the folder for temporary files.
try { rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }); } catch { /* see above */ }
process.exit(code);
