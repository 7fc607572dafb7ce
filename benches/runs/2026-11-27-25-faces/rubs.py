import random,json,subprocess,csv,sys,os,math,shutil
def draw(seed):
    R=random.Random(seed)
    h=math.exp(R.uniform(math.log(1/256),math.log(1/24)))
    edge=R.uniform(0.55,1.27)*h
    n=R.randint(6,12); size=n*edge
    r=R.choice([None,0.5*h,0.25*h]); thick=R.uniform(0.05,0.5)*h
    rr=r or 0.5*thick
    k=R.choice(['auto','auto',math.exp(R.uniform(math.log(20),math.log(3000)))])
    mu=R.uniform(0.0,1.2)
    E=math.exp(R.uniform(math.log(3e3),math.log(1e6))); K=E*math.exp(R.uniform(0,2))
    dt=R.choice([0.0005,0.001,0.002,0.004])
    v=math.exp(R.uniform(math.log(0.02),math.log(0.5)))
    s=math.exp(R.uniform(math.log(0.3),math.log(3)))*h
    kind=R.choice(['sphere','capsule','box','cylinder'])
    ang=R.uniform(0,math.pi)
    q=[math.cos(ang/2),0,0,math.sin(ang/2)]
    lie=[math.sqrt(.5),math.sqrt(.5),0,0]
    def mul(a,b):
        w1,x1,y1,z1=a;w2,x2,y2,z2=b
        return [w1*w2-x1*x2-y1*y2-z1*z2,w1*x2+x1*w2+y1*z2-z1*y2,w1*y2-x1*z2+y1*w2+z1*x2,w1*z2+x1*y2-y1*x2+z1*w2]
    if kind=='sphere': shape={"type":"sphere","radius":s}; low=s; pose={}
    if kind=='capsule': shape={"type":"capsule","radius":s,"half_length":R.uniform(0.5,4)*s}; low=s; pose={"orientation":mul(q,lie)}
    if kind=='cylinder': shape={"type":"cylinder","radius":s,"half_length":R.uniform(0.5,4)*s}; low=s; pose={"orientation":mul(q,lie)}
    if kind=='box':
        t=R.uniform(0.15,1.0)*s; shape={"type":"box","half_extents":[t,R.uniform(1,4)*s,s]}; low=s; pose={"orientation":q}
    gap=R.uniform(0.4,1.1)*2*rr+ (0)
    z1=low+gap
    z0=low+2.5*rr+3*h
    x0=-0.25*size; L=min(0.5*size,v*0.6); T=L/v
    down=(z0-z1)/max(v,0.05); 
    dur=0.1+down+T
    s_={"schema_version":1,"name":"rub","duration":round(dur,3),"dt":dt,"grid_spacing":h,"contact":{"stiffness":k},
    "cloths":[{"name":"sheet","shape":{"type":"rectangle","size":[size,size],"parts":[n,n]},"pose":{"position":[0,0,1.05*rr]},"material":{"density":R.uniform(100,1500),"youngs_modulus":E,"poissons_ratio":0.3,"normal_stiffness":K,"damping":R.choice([0.2,0.8,1.0]),"thickness":thick,"shear_stiffness":0.5*E,"friction":0.4}}],
    "bodies":[{"name":"table","motion":{"type":"fixed","pose":{"position":[0,0,-0.1]}},"geometries":[{"shape":{"type":"box","half_extents":[2*size+1,2*size+1,0.1]},"friction":mu}]},
     {"name":"tool","motion":{"type":"prescribed-poses","keyframes":[{"time":0,"position":[x0,0,z0]},{"time":0.05+down,"position":[x0,0,z1]},{"time":0.05+down+T,"position":[x0+L,0,z1]},{"time":100,"position":[x0+L,0,z1]}]},"geometries":[{"shape":shape,"pose":pose,"friction":mu}]}]}
    if r: s_["contact"]["particle_radius"]=r
    return s_
def one(binary,seed,tag):
    n=f'r{tag}{seed}'; json.dump(draw(seed),open(n+'.json','w'))
    shutil.rmtree(n,ignore_errors=True)
    try: o=subprocess.run([binary,'run',n+'.json','--out',n,'--threads','1'],capture_output=True,text=True,timeout=120)
    except subprocess.TimeoutExpired: return ('timeout',)
    if not os.path.exists(n+'/diagnostics.csv'): return ('refused',(o.stderr)[-160:].replace('\n',' '))
    r=list(csv.DictReader(open(n+'/diagnostics.csv'))); e=r[-1]; f=lambda k: float(e[k] or 0)
    res=(f('energy_gained'),f('energy_put_in'),f('lost_contact_normal'),f('lost_contact_friction'),e['substeps'],'failed' in o.stdout)
    shutil.rmtree(n,ignore_errors=True)
    return res
if __name__=='__main__':
    a,b=int(sys.argv[1]),int(sys.argv[2])
    for seed in range(a,b):
        out=[]
        for tag,bn in zip('on',sys.argv[3:5]):
            x=one(bn,seed,tag)
            out.append(x if isinstance(x[0],str) else 'gain %.1e of %.1e = %.3f sub %s %s'%(x[0],x[1],x[0]/max(x[1],1e-30),x[4],x[5]))
        print(seed,out,flush=True)
