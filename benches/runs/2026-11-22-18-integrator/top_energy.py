"""Energy of a symmetric top at the origin over its first, from a run's bodies.csv and its scene."""
import csv,json,sys
run,scene=sys.argv[1:3]
d=json.load(open(scene))['bodies'][0]['motion']
m,l=d['mass'],d['center_of_mass'][2]; I1,_,I3=d['inertia']
def energy(r):
    w,x,y,z=(float(r['q'+k]) for k in 'wxyz')
    a=(2*(x*z+w*y),2*(y*z-w*x),1-2*(x*x+y*y))
    o=[float(r['w'+k]) for k in 'xyz']
    s=sum(i*j for i,j in zip(a,o)); o2=sum(i*i for i in o)
    return 0.5*(I3*s*s+(I1+m*l*l)*(o2-s*s))+m*9.81*l*a[2]
rows=list(csv.DictReader(open(run+'/bodies.csv')))
e=[energy(r) for r in rows]
print(f"{scene.split('/')[-1]}: E/E0 at the end {e[-1]/e[0]:.9f}, largest deviation {max(abs(x/e[0]-1) for x in e):.3e}")
