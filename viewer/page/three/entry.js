// What the page uses of three.js: input of the bundle `three.min.js` (see README.md of the crate).
export {
  AmbientLight, BackSide, Box3, BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, Color,
  ConeGeometry, CylinderGeometry, DirectionalLight, DoubleSide, DynamicDrawUsage, FrontSide, Group,
  HemisphereLight, Mesh, MeshBasicMaterial, MeshStandardMaterial, PerspectiveCamera, PlaneGeometry, Points,
  Quaternion, SRGBColorSpace, Scene, ShaderMaterial, ShadowMaterial, SphereGeometry, Vector3, WebGLRenderer,
} from 'three';
export { OrbitControls } from 'three/addons/controls/OrbitControls.js';
