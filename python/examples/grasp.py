"""An arm grasps a soft cube; a picture shows it."""

import pliant

world = pliant.World("soft-grasp")
cube = world.soft["cube"]
pliant.simulate(world, 2.7)
height = world.positions[cube][:, 2].mean()
force, _ = world.body("left finger").contact_wrench
print(f"t = {world.time:.2f} s: the cube is at {height:.3f} m, a finger presses with {abs(force[1]):.2f} N")
world.show()
